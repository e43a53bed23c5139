// `kubectl kleym explain`: flags and words; the answer is in run.ts.
import * as Args from '@oclif/core/args'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, selectorFlag } from '../../flags/flags.ts'
import { commonOptions, optionsWithoutSources } from '../../flags/options.ts'
import type { ExplainOptions } from './run.ts'

/** A finding code, as people write it. */
const CODE = /^klm\d+$/i

/** The command line of `explain`. */
export class ExplainCommand extends SourceCommand {
  static override readonly summary = 'Why is this binding refused, and what does it give to whom?'
  static override readonly description =
    'Derives bindings step by step: the pool and objective, every selector and where it comes from, ' +
    'the safety proof, the SPIFFE ID, collisions, the pods and containers that it reaches, and what ' +
    'else they hold or lose, and which access policies name the ID. A failing step ends with a fix. With a finding code, prints the page of ' +
    'that code.'
  static override readonly usage = 'explain [BINDING...|CODE] [flags]'
  static override readonly examples = [
    '<%= config.bin %> explain --offline -R -f examples/estate -A',
    '<%= config.bin %> explain team-a/chat --offline -R -f examples/estate',
    '$ helm template ./chart | <%= config.bin %> explain --offline -f - -A',
    '<%= config.bin %> explain KLM201',
  ]
  static override readonly args = {
    binding: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'Bindings by NAME or NAMESPACE/NAME, or the codes of findings.',
    }),
  }
  static override readonly flags = { 'all-namespaces': allNamespacesFlag, selector: selectorFlag }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(ExplainCommand)
    const subjects: readonly string[] = args.binding ?? []
    const codes = subjects.filter((subject) => CODE.test(subject)).map((code) => code.toUpperCase())
    const bindings = subjects.filter((subject) => !CODE.test(subject))
    if (codes.length > 0 && bindings.length === 0) {
      const { output } = optionsWithoutSources(flags, this.context.cwd)
      const { codePages } = await import('./pages.ts')
      return codePages(codes, output, this.context)
    }
    const options: ExplainOptions = {
      ...commonOptions(flags, 'explain', this.context.cwd),
      bindings,
      selector: flags.selector,
    }
    const { run } = await import('./run.ts')
    return run(options, this.context)
  }
}
