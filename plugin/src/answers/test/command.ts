// `kubectl kleym test`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import { allNamespacesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { words } from '../../flags/repeatable.ts'
import type { CommandResult } from '../../io/context.ts'

/** The command line of `test`. */
export class TestCommand extends SourceCommand {
  static override readonly summary = 'Is what we state about identities true?'
  static override readonly description =
    'Runs IdentityTests: files that state which containers hold which identities, which containers alone hold' +
    ' an identity, which verdict bindings get, and rules for everything. Each assertion passes, fails, or is ' +
    'not known; one that matches nothing fails. --generate prints tests that pin what is true now. --update ' +
    'prints the changes to failing tests that would make them pass.'
  static override readonly usage = 'test [FILE|DIR...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> test tests',
    '<%= config.bin %> test tests --offline -R -f manifests',
    '<%= config.bin %> test --generate --offline -R -f manifests > tests/identities.yaml',
  ]
  static override readonly args = {
    tests: words('Files and folders of IdentityTests, and - for stdin; without any, those of -f.'),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    generate: Flags.boolean({
      description: 'Print tests that pin what is true now.',
      exclusive: ['update'],
    }),
    update: Flags.boolean({
      description: 'Print a patch of the test files that makes failing assertions pass.',
    }),
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(TestCommand)
    return this.answer(() => import('./run.ts'), {
      ...commonOptions(flags, 'test', this.context.cwd),
      tests: args.tests ?? [],
      mode: flags.generate ? 'generate' : flags.update ? 'update' : 'run',
    })
  }
}
