// Objects as the subjects of findings.
import { BINDING_KIND } from '../names.ts'
import type { Binding } from '../objects/binding.ts'
import type { Subject } from './finding.ts'

/** A binding as a subject. */
export function bindingSubject({ meta }: Binding): Subject {
  return { kind: BINDING_KIND, namespace: meta.namespace, name: meta.name }
}
