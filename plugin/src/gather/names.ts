// Names that no API server would have taken: a file may hold anything, and an answer about such an object would be an
// answer about nothing that can exist.
import { groupOfApiVersion } from '@kleym/shared/core/model/kinds.ts'
import { stringAt } from '@kleym/shared/core/base/json.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { isDns1123Label, isDns1123Subdomain } from '@kleym/shared/core/base/text/kubernetes.ts'
import { boundedProblems, placeText, type InputProblem, type ProblemReach } from '../sources/problem.ts'
import { reachOf } from '../sources/reach.ts'
import { WANTED_KINDS } from './wanted-kinds.ts'

/** Splits objects into those with possible names and the problems of the others. */
export function withPossibleNames(objects: readonly RawObject[]): {
  readonly objects: readonly RawObject[]
  readonly problems: readonly InputProblem[]
} {
  const problems: InputProblem[] = []
  const kept = objects.filter((object) => {
    const why = nameProblem(object)
    if (why === undefined) return true
    const kind = typeof object.value['kind'] === 'string' ? object.value['kind'] : 'object'
    problems.push({
      kind: 'incomplete',
      what: `${kind} with a name that cannot be`,
      where: object.origin === undefined ? kind : placeText(object.origin),
      why,
      fix: 'give it a name that the API server takes: lower-case letters, digits, dashes and dots',
      reach: reachOfKind(object),
    })
    return false
  })
  return { objects: kept, problems: boundedProblems(problems) }
}

/** Where the object will be once it has a name that can be: its kind and its namespace stand there. */
function reachOfKind({ value }: RawObject): readonly ProblemReach[] {
  const namespace = stringAt(value, 'metadata', 'namespace') ?? ''
  const [kind, group] = [
    stringAt(value, 'kind') ?? '',
    groupOfApiVersion(stringAt(value, 'apiVersion') ?? ''),
  ]
  const wanted = WANTED_KINDS.find((one) => one.kind === kind && one.group === group)
  const isPossible = namespace !== '' && isDns1123Label(namespace)
  return wanted === undefined
    ? []
    : reachOf(wanted, { namespace: isPossible ? namespace : undefined }, JSON.stringify(value))
}

function nameProblem({ value }: RawObject): string | undefined {
  const namespace = stringAt(value, 'metadata', 'namespace') ?? ''
  const name = stringAt(value, 'metadata', 'name') ?? ''
  if (namespace !== '' && !isDns1123Label(namespace)) {
    return `metadata.namespace is ${JSON.stringify(namespace.slice(0, 80))}, which is no DNS-1123 label`
  }
  if (name !== '' && !isDns1123Subdomain(name)) {
    return `metadata.name is ${JSON.stringify(name.slice(0, 80))}, which is no DNS-1123 subdomain`
  }
  if (name === '' && value['kind'] === 'InferenceIdentityBinding') {
    return 'metadata has no name (only generateName), and what kleym renders depends on the name'
  }
  return undefined
}
