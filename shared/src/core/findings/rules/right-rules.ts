// Containers that hold more than an identity: a right on the SPIRE server, by which they can make every other one.
import { subjectText } from '../../model/objects/subject.ts'
import type { PodIdentities } from '../../predict/index.ts'
import { ownerOf, type Note, type PodLookups } from './pod-note.ts'
import type { Right } from './rights.ts'

/** What each right is good for. */
const GOOD_FOR = {
  admin: 'create entries for every identity',
  downstream: 'sign every identity',
  admin_ids: 'create entries for every identity',
  authorized_delegates: 'get every SVID of its node',
} as const satisfies Record<Right['name'], string>

/** Containers whose identity is one with a right over all others. */
export function rightOverOthers({ containers }: PodIdentities, lookups: PodLookups): readonly Note[] {
  return containers.flatMap(({ container: { name }, issued }) =>
    issued.flatMap(({ source, spiffeId }) =>
      spiffeId === undefined
        ? []
        : lookups.rightsOf(spiffeId).map((right): Note => ({
            code: 'KLM310',
            subject: { ...right.giver, container: name },
            related: [ownerOf(source, lookups)].filter(
              (one) => subjectText(one) !== subjectText(right.giver),
            ),
            containers: [name],
            summary: (pods) => `container ${name} of ${pods} can ${GOOD_FOR[right.name]}`,
            evidence: [`${subjectText(right.giver)} sets ${right.name} for ${right.spiffeId}`],
            parts: [right.name, right.spiffeId],
            holds: right.holds,
          })),
    ),
  )
}
