// What RBAC roles allow, one right at a time: taken from a role, out of a role, and from what the audit log says was asked.
import { listAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { AuditEvent } from './audit.ts'

/** One thing that a role allows: `get leases.coordination.k8s.io`, with a subresource after a slash. */
export type Right = string

/** All that a role allows, in the order of its rules. */
export function rightsOf(role: JsonRecord): readonly Right[] {
  return listAt(role, 'rules').flatMap((rule) =>
    listAt(rule, 'apiGroups').flatMap((group) =>
      listAt(rule, 'resources').flatMap((resource) =>
        listAt(rule, 'verbs').map((verb) => right(String(verb), String(resource), String(group))),
      ),
    ),
  )
}

function right(verb: string, resource: string, group: string): Right {
  const [plural = '', subresource] = resource.split('/')
  return `${verb} ${plural}.${group}${subresource === undefined ? '' : `/${subresource}`}`
}

/** What a request needed. */
export function rightIn({ verb, resource, group, subresource }: AuditEvent): Right {
  return right(verb, subresource === '' ? resource : `${resource}/${subresource}`, group)
}

/** The role without one right: every rule is taken apart into single rights first. */
export function without(role: JsonRecord, gone: Right): JsonRecord {
  const rules = listAt(role, 'rules').flatMap((rule) =>
    listAt(rule, 'apiGroups').flatMap((group) =>
      listAt(rule, 'resources').map((resource) => ({
        ...Object(rule),
        apiGroups: [group],
        resources: [resource],
        verbs: listAt(rule, 'verbs').filter(
          (verb) => right(String(verb), String(resource), String(group)) !== gone,
        ),
      })),
    ),
  )
  return { ...role, rules: rules.filter((rule) => rule.verbs.length > 0) }
}
