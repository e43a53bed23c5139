// The answer of `kubectl kleym verify`.
import { mayBeFor, type ServerEntry, svidAnswer } from '@kleym/shared/core/predict/index.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { finish } from '../../frame/finish.ts'
import { gather } from '../../gather/gather.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { wrongUsage } from '../../io/errors.ts'
import { requireStdinOnce } from '../../sources/stdin.ts'
import { asOfSeconds, readTimes } from '../parts/as-of.ts'
import { compareWithServer } from '../parts/compare-entries.ts'
import { verifyFrame } from './frame.ts'
import { readBundles, withServerBundles } from './bundles.ts'
import { readEntries } from '../parts/read-entries.ts'
import { containerSvids, dueIn, type SvidsOption } from './svids.ts'

/** What `verify` is asked. */
export interface VerifyOptions extends CommonOptions {
  /** Files of a server's entries; `-` is stdin. */
  readonly entries: readonly string[]
  /** A file of the server's bundles; undefined: not given. */
  readonly bundles: string | undefined
  /** As written: when they were dumped. */
  readonly asOf: string | undefined
  /** What a process got; undefined: not given. */
  readonly svids: SvidsOption | undefined
}

/** Compares the entries of a server with those that the objects ask for. */
export async function run(options: VerifyOptions, context: CommandContext): Promise<CommandResult> {
  requireEntries(options)
  const asOf = asOfSeconds(options.asOf)
  // An entry may be of any namespace.
  const question = { allNamespaces: true, named: [undefined], federation: true }
  const gathered = await gather({ ...options, allNamespaces: true }, question, context)
  const input =
    options.bundles === undefined
      ? gathered
      : withServerBundles(gathered, await readBundles(options.bundles, context))
  const times = readTimes(asOf, options.entries, input, context)
  const asked = options.svids && (await containerSvids(options.svids, input, times, context))
  const ofContainer: ServerEntry[] = []
  const compared = await compareWithServer(input, times, async (onEntry) => {
    const both = (entry: ServerEntry): void => {
      if (asked !== undefined && mayBeFor(asked, entry)) ofContainer.push(entry)
      onEntry(entry)
    }
    await readEntries(options.entries, both, context, options.asOf)
  })
  const svids = asked && svidAnswer(asked, ofContainer, dueIn(input.after, compared, asked))
  const namespace = options.allNamespaces ? undefined : options.sources.namespace
  return finish(verifyFrame(input, compared, namespace, svids), input, options.output, context)
}

function requireEntries({ entries, bundles, svids, sources }: VerifyOptions): void {
  if (entries.length === 0)
    throw wrongUsage('verify', {
      what: 'there is nothing to compare with',
      why: 'verify needs the entries of a server',
      fix: 'give them: kubectl exec ... spire-server entry show -output json | kubectl kleym verify --entries -',
    })
  const paths = [...entries, bundles, svids?.file, svids?.agentLog, ...sources.files.files]
  requireStdinOnce(
    'verify',
    paths,
    'write - once: for one of --entries, --bundles, --svids, --agent-log and -f',
  )
}
