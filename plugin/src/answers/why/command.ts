// `kubectl kleym why`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import { allNamespacesFlag, entriesFlags } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { REPEATABLE, words } from '../../flags/repeatable.ts'
import type { CommandResult } from '../../io/context.ts'
import { wrongUsage } from '../../io/errors.ts'
import type { WhyOptions } from './chains.ts'
import { parseWhyTarget } from './target.ts'

/** `k8s:ns:team-a,k8s:sa:runner`, with commas or spaces between them. Throws a usage error for what is none. */
function selectorsIn(text: string): readonly string[] {
  const all = text.trim().split(/[,\s]\s*(?=[\w-]+:)/)
  const wrong = all.find((one) => !/^[\w-]+:[^:]/.test(one))
  if (wrong === undefined) return all
  throw wrongUsage('why', {
    what: 'this is no selector',
    where: `--selectors ${JSON.stringify(wrong)}`,
    why: 'a selector is TYPE:VALUE',
    fix: 'write them as the agent does: --selectors k8s:ns:team-a,k8s:sa:runner',
  })
}

/** The command line of `why`. */
export class WhyCommand extends SourceCommand {
  static override readonly summary = 'Why has this pod no SVID?'
  static override readonly description =
    'Follows the identity of a container hop by hop: wanted, installed, rendered, on the server, on the ' +
    'agent, attested, reachable, used. The first line is the first broken hop, the second its fix. It ' +
    'executes nothing in a cluster: you give it the entries of the server and the log of the agent. Without ' +
    'them the answer prints the commands that print them.'
  static override readonly usage = 'why POD|KIND/NAME [flags]'
  static override readonly examples = [
    '<%= config.bin %> why llama-0 -n team-a -c vllm',
    '$ kubectl exec -n spire-server spire-server-0 -c spire-server -- /opt/spire/bin/spire-server entry show -output json | <%= config.bin %> why llama-0 -n team-a --entries -',
    '<%= config.bin %> why deployment/llama -n team-a --spiffe-id spiffe://example.org/ns/team-a/pool/llama',
  ]
  static override readonly args = {
    target: words('A pod (llama-0, team-a/llama-0) or a workload (deployment/llama).'),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    container: Flags.string({
      char: 'c',
      helpValue: 'NAME',
      description: 'Only this container; else those that a registration is for.',
    }),
    'spiffe-id': Flags.string({ helpValue: 'ID', description: 'Only this identity.' }),
    entries: entriesFlags.entries,
    'as-of': entriesFlags['as-of'],
    'agent-log': Flags.string({
      helpValue: 'FILE|-',
      description: "The log of the agent on the pod's node, at level DEBUG or with log_selectors.",
    }),
    selectors: Flags.string({
      helpValue: 'TYPE:VALUE',
      description:
        'The selectors that the agent found, instead of its log, with commas between them. Repeatable.',
      ...REPEATABLE,
      exclusive: ['agent-log'],
    }),
    watch: Flags.boolean({
      char: 'w',
      description:
        'Look again until every hop that is read from the cluster is good, and print when each became good.',
    }),
  }

  async run(): Promise<CommandResult> {
    const options = await this.options()
    return this.answer(() => import('./run.ts'), options)
  }

  /** What the command line asks. Throws a usage error. */
  async options(): Promise<WhyOptions> {
    const { flags, argv } = await this.parse(WhyCommand)
    const target = parseWhyTarget(argv.map(String))
    return {
      ...commonOptions(flags, 'why', this.context.cwd),
      target,
      container: flags.container,
      spiffeId: flags['spiffe-id'],
      entries: flags.entries ?? [],
      asOf: flags['as-of'],
      agentLog: flags['agent-log'],
      selectors: flags.selectors?.flatMap(selectorsIn),
      watch: flags.watch,
    }
  }
}
