// What files hold that is nearly of a kind that is read, as findings: a user who meant it would get an answer about nothing.
import { finding, type Finding, type ObjectMark } from '@kleym/shared/core/findings/index.ts'
import { type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import { groupOfApiVersion, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { placeText } from '../sources/problem.ts'
import type { MisspelledObject } from '../sources/near-miss.ts'

/** A finding for each of them. */
export function nearMissFindings(misses: readonly MisspelledObject[]): readonly Finding[] {
  return misses.map((one) =>
    finding(NEAR_MISS, {
      subject: subjectOf(one),
      summary: `${one.miss.why}, and nothing of this object is judged`,
      evidence: [`apiVersion: ${one.apiVersion}, kind: ${one.kind}, in ${placeText(one.origin)}`],
      fix: `Correct apiVersion and kind: ${one.miss.fix}`,
    }),
  )
}

/** Whether a finding is about an object that is nearly of a kind that is read. */
export function isNearMiss({ code }: Finding): boolean {
  return code === NEAR_MISS
}

/** Where it stands, for formats that point at lines. */
export function markOfNearMiss({ kind, namespace, name, origin }: MisspelledObject): ObjectMark {
  return { kind, namespace, name, origin, suppress: undefined }
}

const NEAR_MISS = 'KLM551'

function subjectOf({ apiVersion, kind, namespace, name }: MisspelledObject): Subject {
  return {
    kind: qualifiedKind({ kind, group: groupOfApiVersion(apiVersion) }),
    namespace,
    name: name === '' ? '(no name)' : name,
  }
}
