// The command line of `npm run control-plane`.
import { parseArgs } from 'node:util'

const HELP = `npm run control-plane [-- FLAGS]

A real kube-apiserver and etcd on this machine, with the kinds that kleym is about and the estate of examples/ in them. It runs
until Ctrl-C and leaves nothing behind. It needs Go: programs are built once and kept in the cache folder of the user.

FLAGS
  --spire   SPIRE beside it: the real spire-server and SPIRE Controller Manager, the operator (as it is in this clone), the
            controllers that make pods of Deployments, and an agent for each node, so that a process can stand in a container
            and fetch its SVIDs. The agents need root and a cgroup hierarchy that can be written to; without them all the
            rest runs, and the output says so. Building takes some ten minutes the first time.
  --help    This text.
`

/** What is asked for. */
export type Arguments =
  | { readonly kind: 'run'; readonly spire: boolean }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'error'; readonly message: string }

/** Reads the arguments behind `--`. */
export function readArguments(args: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { spire: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    })
    return values.help ? { kind: 'help', text: HELP } : { kind: 'run', spire: values.spire }
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n')
    return { kind: 'error', message: `${why}\n  fix:  npm run control-plane -- --help shows what there is` }
  }
}
