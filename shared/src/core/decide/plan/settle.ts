// Where repeated passes lead: the outputs that are there once kleym has nothing left to write, and the net
// change. The plugin shows this state; that it is always reached is a property test.
import type { Compiled } from '../compile/compile.ts'
import type { Output } from '../compile/output.ts'
import { type ClusterSpiffeId, readClusterSpiffeId } from '../../model/objects/clusterspiffeid.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import type { Steps } from '../../base/steps.ts'
import { driftOf } from './drift.ts'
import { metadataAfterWrite } from './written-metadata.ts'
import { planning, type OpenOf, type OutputsKnown, type Action, type LiveOutput, type Pass } from './plan.ts'

/** The last pass, which decides nothing new, and what led to it. */
export interface Settled extends Pass {
  /** The first pass: what the operator says of each binding now, before its writes have had their effect. */
  readonly first: Pass
  /** All ClusterSPIFFEIDs afterwards, in byte order of their names. */
  readonly outputs: readonly LiveOutput[]
  /** The net change from the live outputs to `outputs`, in byte order of names; `actions` of the last pass are none. */
  readonly changes: readonly Action[]
  /** False if the passes did not come to rest, which would be a bug of kleym. */
  readonly atRest: boolean
}

/** More passes than any convergence needs: withdraw, wait, create, confirm. */
const PASSES_MAX = 8

/** Plans and carries out, on paper, until nothing is left to do; in the steps of all passes. */
export function* settling(
  compiled: readonly Compiled[],
  live: readonly LiveOutput[],
  known: OutputsKnown,
  openOf?: OpenOf,
): Steps<Settled> {
  const outputs = new Map(live.map((output) => [output.object.meta.name, output]))
  const changes = new Map<string, Action>()
  let inOrder = sorted(outputs)
  const first = yield* planning(compiled, inOrder, known, openOf)
  let pass = first
  for (let count = 1; pass.actions.length > 0 && count < PASSES_MAX; count++) {
    for (const action of pass.actions) carryOut(action, outputs, changes)
    inOrder = sorted(outputs)
    pass = onlyCreates(pass) ? { ...pass, actions: [] } : yield* planning(compiled, inOrder, 'known', openOf)
  }
  const names = [...changes.keys()].toSorted(compareBytes)
  return {
    ...pass,
    first,
    outputs: inOrder,
    changes: names.flatMap((name) => changes.get(name) ?? []),
    atRest: pass.actions.length === 0,
  }
}

/**
 * A pass that only creates needs no other to confirm it, which halves the work on a fresh cluster: each new output claims
 * what its binding declares, so every claim that could collide with it collides with the binding already, and its name was free. A property test holds it.
 */
function onlyCreates({ actions }: Pass): boolean {
  return actions.every(({ kind }) => kind === 'create')
}

function carryOut(action: Action, outputs: Map<string, LiveOutput>, changes: Map<string, Action>): void {
  if (action.kind === 'delete') {
    const { name } = action.live.object.meta
    outputs.delete(name)
    if (changes.get(name)?.kind === 'create') changes.delete(name)
    else changes.set(name, { ...action, live: originalOf(action.live, changes.get(name)) })
    return
  }
  const { name } = action.output.metadata
  const earlier = changes.get(name)
  const before =
    action.kind === 'update' ? action.live : earlier?.kind === 'delete' ? earlier.live : undefined
  outputs.set(name, {
    object: writtenObject(action.output, before?.object),
    ownership: { kind: 'ours', binding: action.binding, assumed: false },
  })
  if (before === undefined || earlier?.kind === 'create') {
    changes.set(name, { kind: 'create', binding: action.binding, output: action.output })
    return
  }
  const live = originalOf(before, earlier)
  const drift = driftOf(live.object, action.output)
  changes.set(name, { kind: 'update', binding: action.binding, live, output: action.output, drift })
}

function originalOf(live: LiveOutput, earlier: Action | undefined): LiveOutput {
  return earlier === undefined || earlier.kind === 'create' ? live : earlier.live
}

/** The object that a write leaves behind: an update keeps identity, age, and other people's labels and annotations. */
function writtenObject(output: Output, before: ClusterSpiffeId | undefined): ClusterSpiffeId {
  const written = readClusterSpiffeId(
    { value: { ...output } },
    before === undefined ? 'to be created' : 'to be changed',
  )
  if (before === undefined) return written
  return {
    ...written,
    meta: { ...before.meta, ...metadataAfterWrite(before.meta, output) },
    lifecycle: before.lifecycle === 'to be created' ? 'to be created' : 'to be changed',
  }
}

function sorted(outputs: ReadonlyMap<string, LiveOutput>): readonly LiveOutput[] {
  return [...outputs.values()].toSorted((a, b) => compareBytes(a.object.meta.name, b.object.meta.name))
}
