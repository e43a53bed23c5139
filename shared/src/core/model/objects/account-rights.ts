// What service accounts may do, as the roles and their bindings among the objects show it: a program that may no longer read pods makes no
// entries. Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/
import { getOrCreate } from '../../base/get-or-create.ts'
import { canonicalText, listAt, own, recordsAt, stringAt, textsAt } from '../../base/json.ts'
import { INSTALL_KINDS, qualifiedKind, RIGHTS_GROUP } from '../kinds.ts'
import { namespacedName, type NamespacedName } from '../namespaced-name.ts'
import { YES } from '../truth/truth.ts'
import { matchSelector, selectorProblem } from './label-match.ts'
import { readLabelSelector } from './label-selector.ts'
import { readMeta } from './meta.ts'
import { keyOfNames } from './object-key.ts'
import type { RawObject } from './raw.ts'

/** The kinds that rights are read from, with their group. */
export const RIGHTS_KINDS: readonly string[] = INSTALL_KINDS.filter(
  ({ group }) => group === RIGHTS_GROUP,
).map(qualifiedKind)

/** One right; `*` stands for any. */
interface Right {
  /** Empty: in all of them, and outside of namespaces. */
  readonly namespace: string
  readonly verb: string
  readonly group: string
  /** A path, for what is no resource; a role as a whole, if the objects do not show its rules. */
  readonly resource: string
  /** Empty: whatever its name. */
  readonly name: string
}

/** What an account may do. */
export type Rights = readonly Right[]

/** Grants everything, and is in no file: every API server has it. */
const EVERYTHING = 'ClusterRole cluster-admin'
/** A role that stands for more is compared as it is written. */
const RIGHTS_MAX = 1_000

/** Tells what the account of a namespace may do, by these objects. */
export function rightsAmong(objects: readonly RawObject[]): (namespace: string, account: string) => Rights {
  const byKind = Map.groupBy(objects, ({ value }) => stringAt(value, 'kind') ?? '')
  const of = (kind: string): readonly RawObject['value'][] =>
    (byKind.get(kind) ?? []).map(({ value }) => value)
  const roles = new Map(
    ['Role', 'ClusterRole'].flatMap((kind) =>
      of(kind).map((role) => [roleKey(kind, kind === 'Role' ? readMeta(role).namespace : '', role), role]),
    ),
  )
  const aggregated = aggregation(of('ClusterRole'))
  const bindings = ['RoleBinding', 'ClusterRoleBinding'].flatMap((kind) =>
    of(kind).map((binding) => ({
      binding,
      // A role that is bound in a namespace gives its rights there alone.
      namespace: kind === 'RoleBinding' ? readMeta(binding).namespace : '',
    })),
  )
  const known = new Map<string, Rights>()
  /** A role may be bound as often as there are namespaces, for as many accounts. */
  const rightsBy = (binding: RawObject['value'], namespace: string): Rights => {
    const kind = stringAt(binding, 'roleRef', 'kind') ?? ''
    const role = { metadata: { name: stringAt(binding, 'roleRef', 'name') ?? '' } }
    const key = roleKey(kind, kind === 'Role' ? namespace : '', role)
    return getOrCreate(known, `${key}\n${namespace}`, () => {
      const found = roles.get(key)
      return found === undefined
        ? [{ namespace, verb: 'use', group: '', resource: `${kind} ${role.metadata.name}`, name: '' }]
        : rightsOf(aggregated(found), namespace)
    })
  }
  return (account, name) => {
    const given = bindings.flatMap(({ binding, namespace }) =>
      recordsAt(binding, 'subjects').some((one) => isOf(one, account, name, namespace))
        ? [rightsBy(binding, namespace)]
        : [],
    )
    return [...new Set(given)].flat()
  }
}

type Role = RawObject['value']

/** Tells the rules of a role: its own, or those of all roles that it selects, and that they select in turn. */
function aggregation(clusterRoles: readonly Role[]): (role: Role) => readonly unknown[] {
  const labelsOf = new Map(clusterRoles.map((role) => [role, readMeta(role).labels]))
  const byLabel = new Map<string, Role[]>()
  for (const [role, labels] of labelsOf)
    for (const label of labels) getOrCreate(byLabel, label.join('\n'), () => []).push(role)
  const selectedBy = (value: unknown): readonly Role[] => {
    const selector = readLabelSelector(value, '', () => {})
    if (selector === undefined || selectorProblem(selector) !== undefined) return []
    const [label] = selector.matchLabels
    const among = label === undefined ? clusterRoles : (byLabel.get(label.join('\n')) ?? [])
    return among.filter((one) => matchSelector(selector, { labels: labelsOf.get(one) ?? new Map() }) === YES)
  }
  const bySelectors = new Map<string, readonly Role[]>()
  return (role) => {
    const rules: unknown[] = []
    const taken = new Set<readonly Role[]>()
    const reached = new Set([role])
    // It grows as it is gone through: roles may select each other, and be many.
    for (const one of reached) {
      const asked = recordsAt(own(one, 'aggregationRule'), 'clusterRoleSelectors')
      if (asked.length === 0) {
        for (const rule of listAt(one, 'rules')) rules.push(rule)
        continue
      }
      const parts = getOrCreate(bySelectors, canonicalText(asked), () => asked.flatMap(selectedBy))
      // A controller writes the rules of an aggregated role: those that it has may be the former ones.
      if (parts.every((part) => part === one))
        rules.push({ verbs: ['use'], apiGroups: [''], resources: [`ClusterRole ${readMeta(one).name}`] })
      if (!taken.has(parts)) for (const part of parts) reached.add(part)
      taken.add(parts)
    }
    return rules
  }
}

/**
 * Whether an edit of a role or a binding, by itself, may take a right away from anybody. From whom, and whether another role gives it too, the
 * other roles and bindings tell.
 */
export function mayTakeRights(before: RawObject['value'], after: RawObject['value']): boolean {
  const isEdited = (field: string): boolean =>
    canonicalText(own(before, field) ?? null) !== canonicalText(own(after, field) ?? null)
  const [had, has] = [before, after].map((role) => rightsOf(listAt(role, 'rules'), ''))
  const subjects = new Set(listAt(after, 'subjects').map(subjectText))
  return (
    isEdited('roleRef') ||
    isEdited('aggregationRule') ||
    lostRight(had ?? [], has ?? []) !== undefined ||
    listAt(before, 'subjects').some((one) => !subjects.has(subjectText(one))) ||
    // A role is aggregated into others by its labels, or by lacking some.
    (stringAt(before, 'kind') === 'ClusterRole' && labelsText(before) !== labelsText(after))
  )
}

/**
 * The accounts from which edits of Roles and RoleBindings may take rights: `edited` are those as they were, and `bindings` all RoleBindings of
 * their namespaces. Undefined: others too, such as all accounts.
 */
export function accountsConcerned(
  edited: readonly RawObject[],
  bindings: readonly RawObject[],
): ReadonlySet<NamespacedName> | undefined {
  const changed = new Set(
    edited.map(({ value }) => {
      const { namespace, name } = readMeta(value)
      return keyOfNames(stringAt(value, 'kind') ?? '', namespace, name)
    }),
  )
  const accounts = new Set<NamespacedName>()
  for (const { value } of bindings) {
    const { namespace, name } = readMeta(value)
    const [kind, role] = ['kind', 'name'].map((field) => stringAt(value, 'roleRef', field) ?? '')
    const isChanged = changed.has(keyOfNames(stringAt(value, 'kind') ?? '', namespace, name))
    if (!isChanged && !changed.has(keyOfNames(kind ?? '', namespace, role ?? ''))) continue
    for (const subject of recordsAt(value, 'subjects')) {
      const called = stringAt(subject, 'name') ?? ''
      if (stringAt(subject, 'kind') === 'ServiceAccount')
        accounts.add(namespacedName(stringAt(subject, 'namespace') ?? namespace, called))
      // A group that accounts are in, or an account by its user name.
      else if (called.startsWith('system:')) return undefined
    }
  }
  return accounts
}

function labelsText(role: RawObject['value']): string {
  return canonicalText(Object.fromEntries(readMeta(role).labels))
}

function subjectText(subject: unknown): string {
  return JSON.stringify(['kind', 'namespace', 'name'].map((field) => stringAt(subject, field) ?? ''))
}

/** A right that one has and others do not give, as a sentence; undefined: they give all of them. */
export function lostRight(had: Rights, has: Rights): string | undefined {
  // By what they say: two sides may have ten thousand each, and most are the same.
  const given = new Set(has.map(rightText))
  const lost = had.find(
    (right) => !given.has(rightText(right)) && !textsCovering(right).some((one) => given.has(one)),
  )
  if (lost === undefined) return undefined
  const { namespace, verb, group, resource, name } = lost
  const what = `${resource}${group === '' ? '' : `.${group}`}${name === '' ? '' : `/${name}`}`
  return `may ${verb} ${what}${namespace === '' ? '' : ` in ${namespace}`}`
}

function rightText({ namespace, verb, group, resource, name }: Right): string {
  return JSON.stringify([namespace, verb, group, resource, name])
}

/** The rights that give a right, as text. */
function textsCovering(right: Right): readonly string[] {
  const everything = { verb: 'use', group: '', resource: EVERYTHING, name: '' }
  return orAny(right.namespace, '').flatMap((namespace) => [
    ...orAny(right.verb, '*').flatMap((verb) =>
      orAny(right.group, '*').flatMap((group) =>
        orAny(right.resource, '*').flatMap((resource) =>
          orAny(right.name, '').map((name) => rightText({ namespace, verb, group, resource, name })),
        ),
      ),
    ),
    rightText({ namespace, ...everything }),
  ])
}

function orAny(one: string, any: string): readonly string[] {
  return one === any ? [one] : [one, any]
}

function roleKey(kind: string, namespace: string, role: unknown): string {
  return `${kind} ${namespacedName(namespace, readMeta(role).name)}`
}

/** Whether a subject of a binding is an account, or a group that it is in. */
function isOf(subject: unknown, namespace: string, name: string, ofBinding: string): boolean {
  const called = stringAt(subject, 'name') ?? ''
  switch (stringAt(subject, 'kind')) {
    case 'ServiceAccount':
      return called === name && (stringAt(subject, 'namespace') ?? ofBinding) === namespace
    case 'User':
      return called === `system:serviceaccount:${namespace}:${name}`
    case 'Group':
      return [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ].includes(called)
    case undefined:
    default:
      return false
  }
}

function rightsOf(rules: readonly unknown[], namespace: string): Rights {
  const whole = { namespace, verb: 'use', group: '', name: '' }
  let count = 0
  const rights: Right[] = []
  for (const rule of rules) {
    const verbs = textsAt(rule, 'verbs')
    const groups = textsAt(rule, 'apiGroups')
    const resources = textsAt(rule, 'resources')
    const names = textsAt(rule, 'resourceNames')
    const paths = textsAt(rule, 'nonResourceURLs').map((path) => ({ group: '', resource: path, name: '' }))
    const of = names.length === 0 ? [''] : names
    count += verbs.length * (groups.length * resources.length * of.length + paths.length)
    if (count > RIGHTS_MAX) return [{ ...whole, resource: canonicalText(rules) }]
    const objects = groups.flatMap((group) =>
      resources.flatMap((resource) => of.map((name) => ({ group, resource, name }))),
    )
    rights.push(
      ...verbs.flatMap((verb) => [...objects, ...paths].map((one) => ({ namespace, verb, ...one }))),
    )
  }
  return rights
}
