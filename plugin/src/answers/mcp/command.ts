// `kubectl kleym mcp`: flags and words; the server is in run.ts.
import { SourceCommand } from '../../flags/command.ts'
import { commonOptions, type CommonFlags } from '../../flags/options.ts'
import { wrongUsage } from '../../io/errors.ts'
import type { CommandResult } from '../../io/context.ts'

/** The command line of `mcp`. */
export class McpCommand extends SourceCommand {
  static override readonly summary = 'How does an assistant ask all of this?'
  static override readonly description =
    'A Model Context Protocol server on stdin and stdout, with seven tools that only read. The tools explain,' +
    ' who_selects, conflicts, diff and policies answer with the report of the command of that name; ' +
    'why_no_svid answers with the report of the command why; why explains a finding code or a condition ' +
    'reason. The answers are bounded in size. They are about the cluster or the files that the flags name. ' +
    'The server writes nothing, reads no Secret, and ends when stdin does.'
  static override readonly usage = 'mcp [flags]'
  static override readonly examples = [
    '<%= config.bin %> mcp --context staging',
    '<%= config.bin %> mcp --offline -R -f manifests',
  ]

  async run(): Promise<CommandResult> {
    const { flags } = await this.parse(McpCommand)
    requireStdin(flags)
    commonOptions({ ...flags, 'all-namespaces': flags.namespace === undefined }, 'mcp', this.context.cwd)
    const { run } = await import('./run.ts')
    return run(flags, this.context)
  }
}

function requireStdin({ output, filename = [] }: Pick<CommonFlags, 'output' | 'filename'>): void {
  const wrong = filename.includes('-') ? '-f -' : output === 'text' ? undefined : `-o ${output}`
  if (wrong === undefined) return
  throw wrongUsage('mcp', {
    what: 'stdin and stdout belong to the protocol',
    where: wrong,
    why: 'an assistant sends its questions on stdin and reads the answers on stdout',
    fix: 'name files and folders with -f, and leave -o out',
  })
}
