// What is spoken of: an object, or a container of it.
import { splitNamespacedName, type NamespacedName } from '../namespaced-name.ts'
import { BINDING_KIND } from '../names.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import type { DeclaredBinding } from './binding.ts'

/** What a finding is about, or a cause; `namespace` is empty for a cluster-scoped object. */
export interface Subject {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly container?: string
}

/** A binding as a subject. */
export function bindingSubject({ meta }: Pick<DeclaredBinding, 'meta'>): Subject {
  return { kind: BINDING_KIND, namespace: meta.namespace, name: meta.name }
}

/** The binding of a key as a subject. */
export function subjectOfKey(key: NamespacedName): Subject {
  return { kind: BINDING_KIND, ...splitNamespacedName(key) }
}

/** `Kind/namespace/name`, with the container behind a colon; a cluster-scoped object has no namespace. */
export function subjectText({ kind, namespace, name, container }: Subject): string {
  const base = namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`
  return container === undefined ? base : `${base}:${container}`
}

/** A total order of subjects: namespace, kind, name, container. */
export function compareSubjects(left: Subject, right: Subject): number {
  return (
    compareBytes(left.namespace, right.namespace) ||
    compareBytes(left.kind, right.kind) ||
    compareBytes(left.name, right.name) ||
    compareBytes(left.container ?? '', right.container ?? '')
  )
}
