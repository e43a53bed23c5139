// How `verify` looks: what it comes to, then each difference as a finding, worst first.
import { present } from '@kleym/shared/core/base/present.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import type { SvidAnswer } from '@kleym/shared/core/predict/index.ts'
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Answer } from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import type { Layout } from '../../text/layout.ts'
import { BLANK, line, type Block } from '../../text/line.ts'
import { entriesText } from '../../text/names.ts'
import type { ServerComparison } from '../parts/compare-entries.ts'

/** `vllm of team-a/llama-0 got 1 SVID: none missing or unexpected`. */
function svidsText({ asked: { pod, container, svids }, lacking, surplus }: SvidAnswer): string {
  const wrong = Object.entries({ missing: lacking, unexpected: surplus }).flatMap(([word, all]) => {
    const certain = all.filter(({ holds }) => holds === YES).length
    return [
      ...(certain > 0 ? [`${certain} ${word}`] : []),
      ...(certain < all.length ? [`${all.length - certain} perhaps ${word}`] : []),
    ]
  })
  const whose = `${container.name} of ${namespacedName(pod.namespace, pod.ref.name)}`
  return `${whose} got ${counted(svids.length, 'SVID')}: ${wrong.length === 0 ? 'none missing or unexpected' : wrong.join(', ')}`
}

/** Of differences of one kind alone. */
function differenceText({ missing, different, extra }: Readonly<Record<Difference, number>>): string {
  if (missing > 0) return `the SPIRE server lacks ${entriesText(missing)}`
  if (different > 0) return `the SPIRE server differs in ${entriesText(different)}`
  return `the SPIRE server has ${entriesText(extra)} that no object asks for`
}

type Difference = 'missing' | 'different' | 'extra'

/** The first lines; `svids` is what `--svids` showed. */
export function verifyAnswer({ counts }: ServerComparison, svids?: SvidAnswer): Answer {
  const { read, agreed, missing, different, open, perhapsMissing, pending } = counts
  const extra = counts.extra.length + counts.extraBeyond + counts.extraUnjudged
  const parts = [
    ...(missing.length > 0 ? [`${missing.length} missing`] : []),
    ...(different.length > 0 ? [`${different.length} different`] : []),
    ...(extra > 0 ? [`${extra} that no object asks for`] : []),
  ]
  const whole =
    parts.length === 0 && agreed === 0
      ? 'no entry of the SPIRE server is certain to be as predicted'
      : parts.length === 0
        ? `the SPIRE server agrees: ${entriesText(agreed)} ${agreed === 1 ? 'is' : 'are'} as predicted`
        : parts.length === 1
          ? differenceText({ missing: missing.length, different: different.length, extra })
          : `the SPIRE server differs in ${entriesText(missing.length + different.length + extra)}`
  return {
    mark: parts.length > 0 || open + perhapsMissing > 0 || agreed === 0 ? 'warn' : 'ok',
    text: [
      read === 0 && parts.length === 0
        ? `the SPIRE server holds no entry, and none is ${perhapsMissing === 0 ? '' : 'certainly '}asked for`
        : whole,
    ],
    reasons: present(
      parts.length > 1 && [parts.join(', ')],
      parts.length > 0 && [`${entriesText(agreed)} as predicted`],
      svids !== undefined && [svidsText(svids)],
      open > 0 && [`${entriesText(open)} could not be checked`],
      perhapsMissing > 0 && [
        `${entriesText(perhapsMissing)} may be missing: it is not known whether ${perhapsMissing === 1 ? 'it' : 'they'} should be there`,
      ],
      pending > 0 && [
        `${entriesText(pending)} ${pending === 1 ? 'is' : 'are'} explained by what kleym must still write`,
      ],
    ),
  }
}

/** What stands below. */
export function viewVerify({ counts }: ServerComparison, shown: readonly Finding[], layout: Layout): Block {
  const unlisted = counts.extraBeyond + counts.extraUnjudged
  const more =
    unlisted === 0
      ? []
      : [BLANK, line(`${entriesText(unlisted)} more that no object asks for are not listed`)]
  return [...viewFindingGroups(shown, layout), ...more]
}
