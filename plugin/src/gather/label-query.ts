// `-l`: label selectors as kubectl takes them (`app=llama,tier!=test,zone in (a, b),!canary`).
import type { LabelRequirement, LabelSelector } from '@kleym/shared/core/model/objects/label-selector.ts'
import { selectorProblem } from '@kleym/shared/core/model/objects/label-match.ts'
import { KleymError } from '../io/errors.ts'

const REQUIREMENT =
  /^\s*(?:(?<absent>!)\s*(?<no>[^\s,=!()]+)|(?<key>[^\s,=!()]+)\s*(?:(?<equals>==?|!=)\s*(?<value>[^\s,=!()]*)|\s(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,|$)/

/** Parses a selector; throws a usage error that shows where it stops making sense. */
export function parseLabelQuery(text: string): LabelSelector {
  const matchExpressions: LabelRequirement[] = []
  let rest = text
  while (rest.trim() !== '') {
    const match = REQUIREMENT.exec(rest)
    if (match === null) throw wrong(text, `it stops making sense at ${JSON.stringify(rest.trim())}`)
    matchExpressions.push(requirementOf(match.groups ?? {}))
    rest = rest.slice(match[0].length)
  }
  const selector = { matchLabels: new Map<string, string>(), matchExpressions }
  const problem = selectorProblem(selector)
  if (problem !== undefined) throw wrong(text, problem)
  return selector
}

function requirementOf(groups: Readonly<Record<string, string | undefined>>): LabelRequirement {
  const { absent, no, key, equals, value, set, values } = groups
  if (absent !== undefined) return { key: no ?? '', operator: 'DoesNotExist', values: [] }
  if (set !== undefined) {
    return {
      key: key ?? '',
      operator: set === 'in' ? 'In' : 'NotIn',
      values: (values ?? '').split(',').map((item) => item.trim()),
    }
  }
  if (equals === undefined) return { key: key ?? '', operator: 'Exists', values: [] }
  return { key: key ?? '', operator: equals === '!=' ? 'NotIn' : 'In', values: [value ?? ''] }
}

function wrong(text: string, why: string): KleymError {
  return new KleymError('usage', {
    what: 'the label selector is not valid',
    where: `-l ${text}`,
    why,
    fix: 'write it like kubectl does: -l app=llama,tier!=test',
  })
}
