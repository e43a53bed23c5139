// What the API server answers to a SubjectAccessReview, and to a SelfSubjectAccessReview alike.
import { own, type JsonRecord } from '@kleym/shared/core/base/json.ts'

/** Whether a review allows what was asked: only a plain yes does, that nothing denies. */
export function isAllowed(review: JsonRecord): boolean {
  const status = own(review, 'status')
  return own(status, 'allowed') === true && own(status, 'denied') !== true
}
