// What keeps the hops of `why` and of `status` from being known.
import type { Hop } from '@kleym/shared/core/answers/index.ts'
import type { UnknownReason } from '@kleym/shared/core/model/unknown-reason.ts'

/** What could not be read. That something was not given is no such thing: its hop says so. */
export function unreadIn(hops: readonly Hop[]): readonly UnknownReason[] {
  return hops
    .flatMap(({ truth }) => [...truth.causes])
    .flatMap((cause) => (cause.kind === 'unread' && cause.why.cause !== 'not given' ? [cause.why] : []))
}
