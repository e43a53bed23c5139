// Objects as the subjects of findings.
import { splitNamespacedName, type NamespacedName } from '../namespaced-name.ts'
import { BINDING_KIND } from '../names.ts'
import type { DeclaredBinding } from '../objects/binding.ts'
import type { Subject } from './finding.ts'

/** A binding as a subject. */
export function bindingSubject({ meta }: Pick<DeclaredBinding, 'meta'>): Subject {
  return { kind: BINDING_KIND, namespace: meta.namespace, name: meta.name }
}

/** The binding of a key as a subject. */
export function subjectOfKey(key: NamespacedName): Subject {
  return { kind: BINDING_KIND, ...splitNamespacedName(key) }
}
