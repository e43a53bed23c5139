// `kubectl kleym rename`: flags and words; the answer is in run.ts.
import * as Args from '@oclif/core/args'
import { SourceCommand } from '../../flags/command.ts'
import { configMapsFlag, namesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import type { CommandResult } from '../../io/context.ts'
import { parseRename } from './targets.ts'

/** The command line of `rename`. */
export class RenameCommand extends SourceCommand {
  static override readonly summary = 'How does an identity get another name?'
  static override readonly description =
    'The plan of a rename, from a binding, pool or objective to another: let consumers accept both IDs, issue' +
    ' both, switch, and take the old one away. Each step has the command that checks it, and says who breaks ' +
    'if it is left out. If two bindings on one container would be refused, a temporary ClusterSPIFFEID ' +
    'written by hand bridges the gap. The first line says whether a container is cut off in between. Nothing ' +
    'is applied; -o yaml prints the objects of the next step.'
  static override readonly usage = 'rename KIND/FROM TO [flags]'
  static override readonly examples = [
    '<%= config.bin %> rename pool/llama llama-70b -n team-a',
    '<%= config.bin %> rename iib/team-a/chat iib/team-a/assistant --offline -R -f manifests',
    {
      description: 'With the roles of a cloud or of Vault that name the old ID.',
      command: '<%= config.bin %> rename objective/chat assistant -n team-a --names vault-role.json',
    },
  ]
  static override readonly args = {
    from: Args.string({
      ignoreStdin: true,
      description: 'What is renamed: iib/NAME, pool/NAME or objective/NAME.',
    }),
    to: Args.string({
      ignoreStdin: true,
      description: 'Its new name, of an object that is there or does not exist yet.',
    }),
    // kubectl takes the kind as a word of its own.
    name: Args.string({ ignoreStdin: true, hidden: true }),
  }
  static override readonly flags = { names: namesFlag, configmaps: configMapsFlag }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(RenameCommand)
    const words = [args.from, args.to, args.name].filter((word) => word !== undefined)
    return this.answer(() => import('./run.ts'), {
      ...commonOptions({ ...flags, 'all-namespaces': false }, 'rename', this.context.cwd),
      asked: parseRename(words),
    })
  }
}
