// `kubectl kleym explain`: flags and words; the answer is in run.ts.
import * as Flags from '@oclif/core/flags'
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, selectorFlag } from '../../flags/flags.ts'
import { codeMeant } from '../../flags/finding-filter.ts'
import { withoutKind } from '../../gather/selection.ts'
import { ONLY } from './only.ts'
import { reasonPageOf } from './reasons.ts'
import { commonOptions, optionsWithoutSources } from '../../flags/options.ts'
import { words } from '../../flags/repeatable.ts'

/** Whether a word is a finding code or a condition reason, which have pages. Names of bindings have no capital letters. */
export function hasPage(word: string): boolean {
  if (/^klm\d*$/i.test(word)) return true
  return /[A-Z]/.test(word) && (codeMeant(word) !== undefined || reasonPageOf(word) !== undefined)
}

/** The command line of `explain`. */
export class ExplainCommand extends SourceCommand {
  static override readonly summary = 'Why is this binding refused, and what does it give to whom?'
  static override readonly description =
    'Derives bindings step by step: the pool and objective, every selector and where it comes from, the ' +
    'safety proof, the SPIFFE ID, collisions, and the pods and containers that it reaches. Also shows what ' +
    'else these containers hold or lose, and which access policies name the ID. A failing step ends with a ' +
    'fix. With a finding code or a condition reason (KLM201, UnsafeSelector), prints its page. A code beside ' +
    'bindings shows only the findings of that code.'
  static override readonly usage = 'explain [BINDING...|CODE|REASON] [flags]'
  static override readonly examples = [
    '<%= config.bin %> explain team-a/chat',
    '<%= config.bin %> explain -A --only refused',
    '<%= config.bin %> explain team-a/chat --offline -R -f manifests',
    '$ helm template ./chart | <%= config.bin %> explain --offline -f - -A',
    '<%= config.bin %> explain UnsafeSelector',
  ]
  static override readonly args = {
    binding: words('Bindings by NAME or NAMESPACE/NAME, or the codes of findings.'),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    selector: selectorFlag,
    only: Flags.option({ options: ONLY })({
      helpValue: ONLY.join('|'),
      description:
        'Show only the bindings in this state. Filters the output only; the exit code counts everything.',
    }),
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(ExplainCommand)
    const subjects = withoutKind(args.binding ?? [])
    const codes = subjects.filter(hasPage)
    const bindings = subjects.filter((subject) => !hasPage(subject))
    if (codes.length > 0 && bindings.length === 0) {
      const { output } = optionsWithoutSources(flags, this.context.cwd)
      const { codePages } = await import('./pages.ts')
      return codePages(codes, output, this.context)
    }
    // Codes beside bindings ask for what is found under them.
    const code = codes.length === 0 ? flags.code : [...(flags.code ?? []), ...codes]
    return this.answer(() => import('./run.ts'), {
      ...commonOptions({ ...flags, code }, 'explain', this.context.cwd),
      only: flags.only,
      bindings,
      selector: flags.selector,
    })
  }
}
