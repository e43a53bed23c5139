// `diff BINDING...` and `-l`: what some bindings are part of. The rest of the change counts for the exit code all the same, and the
// first line says that there is more.
import { onceBy } from '@kleym/shared/core/base/groups.ts'
import type { AffectedPolicy, Effect, IdentityChange } from '@kleym/shared/core/answers/index.ts'
import { holderKey } from '@kleym/shared/core/model/objects/pod-index.ts'
import { isAbout, type Finding, concernsEveryBinding } from '@kleym/shared/core/findings/index.ts'
import type { State } from '@kleym/shared/core/analysis/index.ts'
import { BINDING_KIND } from '@kleym/shared/core/model/names.ts'
import { chooseBindings } from '../../gather/selection.ts'
import type { DiffInput } from '../parts/base.ts'
import type { DiffOptions } from '../parts/base-flag.ts'
import type { ObjectChange } from './changes.ts'

/** The bindings that a diff is narrowed to, and the IDs that they have on either side. */
export interface Narrowed {
  readonly keys: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

/** What the command line narrows a diff to; undefined: nothing. Throws for a name that is on neither side. */
export function narrowedTo(
  input: DiffInput,
  states: readonly State[],
  { bindings: names, selector, output }: DiffOptions,
): Narrowed | undefined {
  if (names.length === 0 && selector === undefined) return undefined
  const sides = [input.after, input.before, ...(input.base === undefined ? [] : [input.base.after])]
  const all = sides.flatMap(({ snapshot }) => [...snapshot.bindings.read])
  const bindings = onceBy(all, ({ key }) => key)
  const after = {
    ...input.after,
    snapshot: { ...input.after.snapshot, bindings: input.after.snapshot.bindings.with(bindings) },
  }
  const scope = { namespace: input.namespaceInForce, selector, echo: output.echo }
  const keys = new Set<string>(chooseBindings({ after }, names, scope).map(({ key }) => key))
  const ids = states.flatMap(({ outputs }) =>
    outputs.flatMap(({ object, ownership }) =>
      ownership.kind === 'ours' && keys.has(ownership.binding) ? [object.spec.spiffeIDTemplate] : [],
    ),
  )
  return { keys, ids: new Set(ids) }
}

/** Whether a change of an object is shown. */
export function isChangeShown(narrowed: Narrowed | undefined, { binding }: ObjectChange): boolean {
  return narrowed === undefined || narrowed.keys.has(binding)
}

/** Whether a finding is shown; one about all registrations always is. */
export function isFindingShown(narrowed: Narrowed | undefined, one: Finding): boolean {
  return narrowed === undefined || isAbout(one, BINDING_KIND, narrowed.keys) || concernsEveryBinding(one)
}

/** Whether a rule of a policy is shown. */
export function isPolicyShown(narrowed: Narrowed | undefined, { spiffeId }: AffectedPolicy): boolean {
  return narrowed === undefined || (spiffeId !== undefined && narrowed.ids.has(spiffeId))
}

/** The part of an effect that is shown. What is undetermined always is: it may be about these bindings. */
export function narrowEffect(effect: Effect, narrowed: Narrowed | undefined): Effect {
  if (narrowed === undefined) return effect
  const isMeant = ({ spiffeId }: IdentityChange): boolean => narrowed.ids.has(spiffeId)
  const [lost, gained] = [effect.lost.filter(isMeant), effect.gained.filter(isMeant)]
  const touched = new Set([...lost, ...gained].flatMap(({ containers }) => containers.map(holderKey)))
  return {
    ...effect,
    lost,
    gained,
    edited: [],
    stranded: effect.stranded.filter((one) => touched.has(holderKey(one))),
    verdicts: effect.verdicts.filter(({ binding }) => narrowed.keys.has(binding)),
  }
}
