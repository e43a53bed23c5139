// Compiles one binding by itself: to an identity and its output, to a refusal, or to an unknown. `collide/` and `plan/`
// then decide by the other bindings and by the outputs that exist.
import type { DeclaredBinding } from '../../model/objects/binding.ts'
import {
  checkInputOf,
  firstObjection,
  trustDomainText,
  type CheckInput,
  type Refusal,
  type Undetermined,
} from './checks.ts'
import type { Config } from '../settings/config.ts'
import { selectorsOf, spiffeIdOf, type Identity } from './identity.ts'
import { renderOutput, type Output } from './output.ts'
import type { References } from '../../model/objects/lookup.ts'

/** A binding that passed all checks. */
export interface Resolved {
  readonly kind: 'resolved'
  readonly identity: Identity
  readonly output: Output
}

/** A binding, what was read for it, and its own result. */
export interface Compiled {
  readonly binding: DeclaredBinding
  readonly input: CheckInput
  readonly result: Resolved | Refusal | Undetermined
}

/** Compiles a binding: runs the checks in order, and the first that objects decides. Never throws. */
export function compile(binding: DeclaredBinding, references: References, config: Config): Compiled {
  const input = checkInputOf(binding, references, config)
  return { binding, input, result: firstObjection(input) ?? resolve(input) }
}

function resolve({ binding, config, parts }: CheckInput): Resolved | Refusal {
  if (parts === undefined) {
    return { kind: 'refused', check: 'safety proof', reason: 'UnsafeSelector', message: 'nothing was proven' }
  }
  const identity: Identity = {
    ...parts,
    spiffeId: spiffeIdOf(parts, trustDomainText(config)),
    selectors: selectorsOf(parts),
  }
  return { kind: 'resolved', identity, output: renderOutput(identity, binding.meta.uid, config) }
}
