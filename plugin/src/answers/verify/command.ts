// `kubectl kleym verify`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import { allNamespacesFlag, entriesFlags } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { REPEATABLE } from '../../flags/repeatable.ts'
import type { CommandResult } from '../../io/context.ts'

/** The command line of `verify`. */
export class VerifyCommand extends SourceCommand {
  static override readonly summary = 'Does the SPIRE server agree?'
  static override readonly description =
    'Compares the registration entries that the objects ask for with those that a SPIRE server holds: which ' +
    'are missing, which no object asks for, and which differ, each with its cause if that is certain. The ' +
    'entries are the output of spire-server entry show -output json.'
  static override readonly usage = 'verify --entries FILE|- [flags]'
  static override readonly examples = [
    '$ kubectl exec -n spire-server spire-server-0 -c spire-server -- spire-server entry show -output json | <%= config.bin %> verify --entries -',
    '<%= config.bin %> verify --entries entries.json --as-of 2026-11-22T12:00:00Z --offline -R -f manifests',
  ]
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    entries: entriesFlags.entries,
    bundles: Flags.string({
      helpValue: 'FILE|-',
      description: 'The bundles of the server: spire-server bundle list -output json.',
    }),
    svids: Flags.string({
      helpValue: 'FILE|-',
      description: 'What a process of --pod and --container got: the text of spire-agent api fetch x509.',
      dependsOn: ['pod', 'container'],
    }),
    pod: Flags.string({
      helpValue: 'NAMESPACE/NAME',
      description: 'The pod of --svids.',
      dependsOn: ['svids'],
    }),
    container: Flags.string({
      char: 'c',
      helpValue: 'NAME',
      description: 'The container of --svids.',
      dependsOn: ['svids'],
    }),
    selectors: Flags.string({
      helpValue: 'TYPE:VALUE',
      description:
        'The selectors that the agent found for the process of --svids, as its log has them (log_selectors), with commas between them. Repeatable.',
      ...REPEATABLE,
      dependsOn: ['svids'],
    }),
    'agent-log': Flags.string({
      helpValue: 'FILE|-',
      description:
        "The log of the agent on the pod's node, instead of --selectors. The last line with selectors of the container counts.",
      dependsOn: ['svids'],
      exclusive: ['selectors'],
    }),
    'as-of': entriesFlags['as-of'],
  }

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(VerifyCommand)
    return this.answer(() => import('./run.ts'), {
      ...commonOptions(flags, 'verify', this.context.cwd),
      entries: flags.entries ?? [],
      bundles: flags.bundles,
      asOf: flags['as-of'],
      svids:
        flags.svids === undefined
          ? undefined
          : {
              file: flags.svids,
              pod: flags.pod ?? '',
              container: flags.container ?? '',
              // As the agent's log has them: one after the other.
              selectors: flags.selectors?.flatMap((one) => one.split(/,(?=\w+:)/)),
              agentLog: flags['agent-log'],
            },
    })
  }
}
