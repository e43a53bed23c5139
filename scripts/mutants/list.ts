// The rules that are broken, one by one, and the tests that have to notice.

/** One change of a source file that breaks a rule. */
export interface Mutant {
  /** The rule that it breaks. */
  readonly breaks: string
  readonly file: string
  /** Stands in the file once. */
  readonly find: string
  readonly replace: string
  /** The tests that have to fail, where the simulation does not. */
  readonly tests: readonly string[]
}

const OPERATOR = [
  'operator/test/reconcile',
  'operator/test/claims',
  'operator/test/write',
  'operator/test/caches',
] as const
const CORE = ['shared/test/plan', 'shared/test/collide', 'shared/test/compile'] as const
const KUBE = ['shared/test/kube/store.test.ts', 'operator/test/caches'] as const

export const MUTANTS: readonly Mutant[] = [
  ...inFile('operator/src/reconcile/orphans.ts', OPERATOR, [
    [
      'an orphan is deleted after a live read',
      'const read = await writer.read(caches.bindings, { namespace, name })',
      "const read = { kind: 'read', found: false } as Awaited<ReturnType<typeof writer.read>>",
    ],
    [
      'an orphan stays while its binding cannot be read',
      "if (read.kind === 'unknown') return retry(read)",
      '',
    ],
    [
      'a terminating orphan is not deleted again',
      'return output.meta.deletedAt === undefined',
      'return true',
    ],
  ]),
  ...inFile('operator/src/reconcile/deletion.ts', OPERATOR, [
    [
      'the finalizer is dropped after a live list',
      'return hasOurs(binding.finalizers) ? this.#confirm(key, binding) : undefined',
      'return undefined',
    ],
    [
      'the finalizer stays while an output is left',
      'if (ledger.ownOutputs(key).length > 0) {',
      'if (ledger.ownOutputs(key).length < 0) {',
    ],
    [
      'the finalizer stays where the live list has shown an output',
      'return ledger.ownOutputs(key).length === 0 ? undefined',
      'return ledger.ownOutputs(key).length < 1_000 ? undefined',
    ],
    [
      'the finalizer stays while an orphan is left',
      'if (orphans.length > 0) {',
      'if (orphans.length > 1_000) {',
    ],
    ['a list that failed proves nothing', "confirmation.state = 'failed'", "confirmation.state = 'listed'"],
    ['a list is waited for', "if (confirmation.state === 'waiting') return NOTHING_TO_DO", ''],
    [
      'a list that began before an altered output was deleted proves nothing',
      'const hadAltered = writer.hasAltered(key)',
      'const hadAltered = false',
    ],
    [
      'a list that was asked for by a namesake proves nothing',
      'confirmation === undefined || confirmation.bindingUid !== meta.uid',
      'confirmation === undefined',
    ],
    [
      'where the kind of outputs cannot be told to be absent, the finalizer stays',
      "return caches.outputs.syncState.kind === 'absent' ? undefined : retry()",
      'return undefined',
    ],
  ]),
  ...inFile('operator/src/reconcile/reports.ts', OPERATOR, [
    [
      'no status is written for another generation than the one that was judged',
      'judged.uid !== binding.meta.uid || judged.generation !== binding.meta.generation',
      'judged.uid !== binding.meta.uid',
    ],
    [
      'no status is written onto a binding that was made anew',
      'judged.uid !== binding.meta.uid || judged.generation !== binding.meta.generation',
      'judged.generation !== binding.meta.generation',
    ],
    [
      'a status that says the same is not written',
      'if (deepEqual(next, status)) return',
      'if (next === status) return',
    ],
  ]),
  ...inFile('operator/src/reconcile/convergence.ts', OPERATOR, [
    [
      'the finalizer is there before an output is written',
      "if (action !== undefined && action.kind !== 'delete') return true",
      '',
    ],
    [
      'a finalizer that was removed is put back',
      'return action === undefined && this.#options.ledger.ownOutputs(key).length > 0',
      'return false',
    ],
    [
      'what was altered before is tried by a dry run first',
      'const options = { dryRun: (isRight || this.#lastTryFailed(key)) && !dryRuns.has(hash) }',
      'const options = { dryRun: false }',
    ],
    [
      'what is right is tried by a dry run first',
      '(isRight || this.#lastTryFailed(key))',
      'this.#lastTryFailed(key)',
    ],
    [
      'the status is the memory of an altered output',
      'if (this.#options.applyFailures.has(key)) return true',
      'return this.#options.applyFailures.has(key)',
    ],
    [
      'a refusal is reported only once nothing is left',
      "if (judgement.state !== 'refused') return judgement\n    const [left]",
      'return judgement\n    const [left]',
    ],
    [
      'a name that no cache holds is looked for',
      "if (evaluation.kind === 'unverified') {",
      "if (evaluation.kind === 'waits') {",
    ],
    [
      'nothing is written while outputs are not known',
      "if (outputs.syncState.kind === 'unknown') {",
      "if (outputs.syncState.kind === 'waiting') {",
    ],
    [
      'a write that was altered is noted',
      'this.#options.applyFailures.note(key, output, alteredMessage(fields))',
      '',
    ],
    [
      'a write without an answer is looked into first',
      'const unknownWrites = await this.#options.writer.resolveUnknownWrites(key)',
      "const unknownWrites = { kind: 'done' } as WriteResult",
    ],
  ]),
  ...inFile('operator/src/claims/ledger.ts', OPERATOR, [
    [
      'a write reserves what it will claim',
      'declared === undefined ? [] : [{ ...declared,',
      'declared !== undefined ? [] : [{ ...Object(declared),',
    ],
    [
      'nothing is decided before outputs are listed',
      "if (caches.outputs.syncState.kind === 'waiting') return { kind: 'waits' }",
      '',
    ],
    [
      'a refusal by references waits for a live read',
      "return refs.length === 0 ? { kind: 'decided'",
      "return refs.length < 1_000 ? { kind: 'decided'",
    ],
  ]),
  ...inFile('operator/src/claims/indexes.ts', OPERATOR, [
    [
      'no more than a slice is worked in at once',
      'return this.#stale.sizeOf(namespace) > SLICE',
      'return false',
    ],
    [
      'peers are woken in slices',
      'for (const _ of register.wakeTouched(namespace)) await spend()',
      'for (const _ of register.wakeTouched(namespace));',
    ],
    [
      'peers are woken after the pass that changes their claims',
      '      await this.#passes.get(namespace)\n',
      '',
    ],
    [
      'claims that change while peers are woken are heard of too',
      'while (register.isTouched(namespace)) {',
      'if (register.isTouched(namespace)) {',
    ],
    [
      'a namespace rests after its references were taken in',
      'if (!this.#rests.isOver(namespace)) return\n',
      '',
    ],
    [
      'what has a name of kleym and names nobody wakes its peers',
      'else if (latest.isWhole && latest.bindingKey === undefined) {',
      'else if (name === "") {',
    ],
    [
      'the binding whose name an object takes hears of it',
      'if (renderer !== undefined) wake(renderer)',
      'if (renderer === undefined) wake(name)',
    ],
    [
      'a finalizer that goes changes a decision',
      '|| hasOurs(before.finalizers) !== hasOurs(now.finalizers)',
      '',
    ],
    [
      'peers that waited silently hear when nobody is about to decide any more',
      'for (const claim of claimsOf(now)) register.touch(claim)',
      '',
    ],
  ]),
  ...inFile('operator/src/claims/claim-register.ts', OPERATOR, [
    [
      'the peers of an old claim are woken',
      'this.touch(claim)\n      this.index.remove(claim)',
      'this.index.remove(claim)',
    ],
    [
      'the peers of a new claim are woken',
      'this.index.add(claim)\n      this.touch(claim)',
      'this.index.add(claim)',
    ],
  ]),
  ...inFile('operator/src/write/writer.ts', OPERATOR, [
    [
      'a write without an answer keeps its reservation',
      'if (isOutcomeUnknown(error)) this.#unsettled.set(key, reservation)\n      else reservation.release()',
      'reservation.release()',
    ],
    [
      'an answer other than what was sent is not taken for done',
      'const fields = alteredFields(answer, output)\n      if (fields.length === 0) {\n        reservation',
      'const fields: readonly AlteredField[] = []\n      if (fields.length === 0) {\n        reservation',
    ],
    [
      'a dry run that comes back altered is no leave to write',
      "return fields.length === 0 ? { kind: 'done', answer } : { kind: 'altered', fields }",
      "return { kind: 'done', answer }",
    ],
    [
      'what was altered claims until it is gone',
      'const reservations = [reservation, this.#options.ledger.reserveAnswer(key, answer)]',
      'reservation.release()\n      const reservations: Reservation[] = []',
    ],
    [
      'what the answer says claims too',
      '[reservation, this.#options.ledger.reserveAnswer(key, answer)]',
      '[reservation]',
    ],
    [
      'a delete names the UID and version that were judged',
      'this.#options.api.delete(resource, { name }, { uid, resourceVersion })',
      'this.#options.api.delete(resource, { name }, { uid })',
    ],
    [
      'what is altered is deleted by its UID',
      'this.#options.api.delete(outputs.resource, { name }, { uid })',
      'this.#options.api.delete(outputs.resource, { name }, {})',
    ],
    [
      'what is altered and still there is not done with',
      'const isThere = read.kind',
      "const isThere = uid === '' && read.kind",
    ],
    [
      'a 5xx leaves open what became of a write',
      'return !(error instanceof ApiError) || error.status >= 500',
      'return !(error instanceof ApiError)',
    ],
    [
      'a connection that broke leaves open what became of a write',
      'if (error instanceof ConnectionError) return !error.neverSent',
      'if (error instanceof ConnectionError) return false',
    ],
    [
      'our own write is seen at once',
      'this.#options.caches.outputs.store.observe(cachedOutput(value))\n      const answer',
      'const answer',
    ],
    [
      'a status carries UID and version',
      'metadata: { ...refOf(binding.meta), uid, resourceVersion },',
      'metadata: { ...refOf(binding.meta), uid },',
    ],
    [
      'after a conflict the object is read',
      'if (overtaken && error.isStatus) return readAgain()',
      "if (overtaken && error.isStatus) return { kind: 'overtaken' }",
    ],
    [
      'a reservation ends after the live read',
      'const result = await this.#readOutput(reservation.output)',
      'reservation.release()\n    const result = await this.#readOutput(reservation.output)',
    ],
  ]),
  ...inFile('operator/src/write/finalizer-patch.ts', OPERATOR, [
    [
      'the finalizers of others stay when one is added',
      '...(wanted ? [addition(finalizers.hasOthers)]',
      '...(wanted ? [addition(false)]',
    ],
    [
      'what is removed is a finalizer of kleym',
      "return [testOf(path, FINALIZER), { op: 'remove', path }]",
      "return [{ op: 'remove', path }]",
    ],
    ['the binding is the one that was judged', 'testOf(UID_PATH, meta.uid),', ''],
    ['the binding is in the version that was judged', 'testOf(VERSION_PATH, meta.resourceVersion),', ''],
    [
      'the last position is removed first',
      'return positions.toReversed().flatMap(',
      'return positions.flatMap(',
    ],
  ]),
  ...inFile('operator/src/caches/datastore-history.ts', KUBE, [
    [
      'a list that goes back is a sign',
      'if (isFirst && isNewer(seen, page.resourceVersion)) {',
      "if (isFirst && page.resourceVersion === '') {",
    ],
    [
      'a Lease that goes back is a sign',
      'if (isNewer(this.#lease, version)) this',
      "if (version === '') this",
    ],
    [
      'after a restore lists of the history before are refused',
      'if (!isLater || this.#proven.has(resource)) return',
      'if (isLater || !isLater) return',
    ],
  ]),
  ...inFile('shared/src/kube/followed-kind.ts', KUBE, [
    [
      'what a list beside the stream lacks is gone',
      'if (!listed.has(uidKey(object)) && isAtMost(object.meta.resourceVersion, version)) {',
      "if (!listed.has(uidKey(object)) && version === '') {",
    ],
    [
      'what is newer than a list beside the stream stays though the list lacks it',
      'if (!listed.has(uidKey(object)) && isAtMost(object.meta.resourceVersion, version)) {',
      'if (!listed.has(uidKey(object))) {',
    ],
    ['a list beside the stream sets the floor', 'if (version !== undefined) store.caughtUp(version)', ''],
  ]),
  ...inFile('shared/src/kube/store.ts', KUBE, [
    [
      'the list of a new leader counts for what is held in its very version',
      'isSame(before.meta, now.meta) && !this.#isDistrusted',
      'isSame(before.meta, now.meta)',
    ],
    [
      'a live answer mends what is held in an older version',
      'const passed = this.#held.has(key) ? this.#versionAt(key) : this.#seen',
      'const passed = this.#seen',
    ],
    [
      'a live read finds again what the stream had passed before it began',
      'const isBack = began !== undefined && !this.#held.has(key)',
      'const isBack = began === undefined && !this.#held.has(key)',
    ],
    [
      'what the stream passed while a read was on its way does not come back by it',
      '&& isAtMost(meta.resourceVersion, began.seen)',
      '',
    ],
    [
      'an answer that the stream has passed adds nothing',
      'const passed = this.#held.has(key) ? this.#versionAt(key) : this.#seen',
      'const passed = this.#versionAt(key)',
    ],
    [
      'history after a list beside the stream adds nothing',
      'if (this.#isHistory(object.meta)) return\n    this.bookmark',
      'this.bookmark',
    ],
    [
      'a list that began before our own write does not undo it',
      'return observedAt !== undefined && observedAt > began.tick && isNewer(this.#versionAt(key), listVersion)',
      'return observedAt === -1',
    ],
    [
      'what is confirmed gone does not come back',
      'this.#tombstones.add(key, { uid: last.uid, resourceVersion }, this.#tick)',
      '',
    ],
  ]),
  ...inFile(
    'operator/src/election/election.ts',
    ['operator/test/election'],
    [
      [
        'the wall clock ends leadership too',
        'clock.now().getTime() < this.#leadsUntilDateMs',
        'clock.now().getTime() > 0',
      ],
      [
        'time is counted from when the renewal was sent',
        'this.#hold(sentMs, sentDateMs)',
        'this.#hold(this.#options.clock.monotonicMs(), sentDateMs)',
      ],
    ],
  ),
  ...inFile(
    'operator/src/election/fence.ts',
    ['operator/test/election'],
    [
      [
        'who does not lead creates nothing',
        'create: (...call) => asLeader(() => api.create(...call)),',
        'create: (...call) => api.create(...call),',
      ],
      [
        'who does not lead deletes nothing',
        'delete: (...call) => asLeader(() => api.delete(...call)),',
        'delete: (...call) => api.delete(...call),',
      ],
    ],
  ),
  ...inFile('shared/src/core/decide/collide/claim-index.ts', CORE, [
    [
      'a smaller label set contains a larger one',
      "if (own.size < other.size) return isSubset(own, other) ? 'Contains' : undefined",
      'if (own.size < other.size) return undefined',
    ],
    [
      'labels are compared with their values',
      'if (larger.get(key) !== value) return false',
      'if (!larger.has(key) || value === undefined) return false',
    ],
    [
      'another service account is another container',
      'JSON.stringify([claim.namespace, claim.serviceAccountName, claim.containerName])',
      'JSON.stringify([claim.namespace, claim.containerName])',
    ],
    [
      'larger sets are found by their labels',
      "if (isProperSubset(labels, other.labels)) overlaps.push({ relation: 'Contains', group: other })",
      '',
    ],
    [
      'smaller sets are found by one of theirs',
      'for (const key of [...labelKeys, ',
      'for (const key of [...labelKeys.slice(1), ',
    ],
  ]),
  ...inFile(
    'shared/src/core/decide/collide/conflict.ts',
    [...CORE, ...OPERATOR],
    [
      [
        'a reserved claim is waited for',
        "group.claims.filter(({ basis }) => basis !== 'declared')",
        "group.claims.filter(({ basis }) => basis !== 'declared' && basis !== 'reserved')",
      ],
      [
        'a live claim is waited for',
        "group.claims.filter(({ basis }) => basis !== 'declared')",
        "group.claims.filter(({ basis }) => basis !== 'declared' && basis !== 'live')",
      ],
      [
        'a claim on any service account is waited for',
        'return [...near, ...wildcardPeers(index, claim)]',
        'return [...near]',
      ],
      ['two collide', 'peers === undefined || peers.count < 2', 'peers === undefined || peers.count < 3'],
    ],
  ),
  ...inFile(
    'shared/src/core/decide/collide/claim.ts',
    [...CORE, ...OPERATOR],
    [
      [
        'a selector that is missing claims every value',
        'return values.length === 0 ? [ANY] : values',
        'return values',
      ],
      [
        'what the workload selectors say claims beside a narrowed pod selector',
        'return [inOrder(new Map([...selected, ...chosen])), inOrder(selected)]',
        'return [inOrder(new Map([...selected, ...chosen]))]',
      ],
      [
        'a deleting binding declares nothing',
        "if (binding.meta.deletedAt !== undefined || result.kind === 'refused') return undefined",
        "if (result.kind === 'refused') return undefined",
      ],
    ],
  ),
  ...inFile(
    'shared/src/core/decide/plan/plan.ts',
    [...CORE, ...OPERATOR],
    [
      [
        'what is foreign and has a name of kleym claims',
        "if (ownership.kind === 'foreign' && !isOutputName(object.meta.name)) return []",
        "if (ownership.kind === 'foreign') return []",
      ],
      [
        'what is foreign and holds the name refuses its binding',
        "if (holder?.ownership.kind !== 'foreign') return () => true",
        'if (claimsOfOutput !== undefined) return () => true',
      ],
      [
        'a collision withdraws the output',
        'if (collision !== undefined) {',
        'if (collision !== undefined && own.length === 0) {',
      ],
      [
        'a binding that waits withdraws what it declares no more',
        'const outdated = own.filter((live) => !saysWhatIsDeclared(live, resolved, claim))',
        'const outdated = own.filter(() => false)',
      ],
      [
        'a binding that waits keeps what it still declares',
        'const outdated = own.filter((live) => !saysWhatIsDeclared(live, resolved, claim))',
        'const outdated = own.filter(() => true)',
      ],
      [
        'what is declared is compared by its labels',
        'saysLabels(only.labels, resolved.identity)',
        'resolved.identity !== undefined',
      ],
      [
        'an orphan that holds the name is waited for',
        "if (holder.ownership.kind === 'orphan') {",
        "if (holder.ownership.kind === 'orphan' && claimsOfOutput === undefined) {",
      ],
      [
        'a terminating output is never updated',
        'if (isTerminating(holder)) {',
        'if (isTerminating(holder) && holder.object.meta.name === "") {',
      ],
      [
        'the new output is created before the old one is deleted',
        "[{ kind: 'create', binding: key, output }, ...retire]",
        "[...retire, { kind: 'create', binding: key, output }]",
      ],
      [
        'not knowing withdraws nothing',
        "return decision({ state: 'undetermined', compiled, check: result.check, why: result.why })",
        "return decision({ state: 'undetermined', compiled, check: result.check, why: result.why }, withdraw(own, binding.key, ''))",
      ],
      [
        'an output of unknown ownership is not touched',
        "if (holder.ownership.kind === 'unknown') {",
        "if (holder.ownership.kind === 'unknown' && claimsOfOutput === undefined) {",
      ],
    ],
  ),
  ...inFile(
    'shared/src/core/decide/plan/ownership.ts',
    [...CORE, ...OPERATOR],
    [
      ['ours has the UID of its binding', 'if (claimed === uid) {', 'if (claimed !== undefined) {'],
      [
        'ours has a name of kleym for it, or a recorded one',
        'return nameIsOurs || isRecorded(recorded(), output)',
        "return nameIsOurs || isRecorded(recorded(), output) || output.name !== ''",
      ],
      [
        'a recorded name counts with its UID alone',
        'return recorded?.name === name && recorded.uid === uid',
        'return recorded?.name === name || uid === undefined',
      ],
      ['an orphan has the name of itself', 'if (namesItself) {', "if (namesItself || output.name !== '') {"],
      [
        'where the kind of bindings is not there, nothing is an orphan',
        "if (lookup.state === 'kind absent') return",
        "if (lookup.state === 'found' && key === '') return",
      ],
    ],
  ),
  ...inFile('shared/src/core/decide/plan/altered-fields.ts', CORE, [
    ['a stripped selector alters', "  'workloadSelectorTemplates',\n", ''],
    ['an annotation that is changed alters', 'if (PROVEN_ANNOTATIONS.some(', 'if (PROVEN_ANNOTATIONS.every('],
    [
      'a field that is never sent alters',
      '  for (const field of NEVER_SENT) {',
      '  for (const field of NEVER_SENT.slice(1)) {',
    ],
  ]),
  ...inFile('shared/src/core/decide/plan/drift.ts', CORE, [
    [
      'a field that is not rendered is drift',
      'for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))',
      'for (const key of Object.keys(right))',
    ],
  ]),
]

function inFile(
  file: string,
  tests: readonly string[],
  changes: readonly (readonly [breaks: string, find: string, replace: string])[],
): readonly Mutant[] {
  return changes.map(([breaks, find, replace]) => ({ breaks, file, find, replace, tests }))
}
