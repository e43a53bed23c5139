// The kustomize base of the operator, from what Helm renders of the chart: the same objects, without what is Helm's own, and without the
// trust domain and the class, which an overlay gives in the environment of the container.
import { parseAllDocuments, stringify } from 'yaml'
import { digPath, isRecord, listAt, type JsonRecord } from '../../shared/src/core/base/json.ts'

/** The base, from the root of the project. */
export const KUSTOMIZE_BASE = 'charts/kustomize/kleym.yaml'
/** What the chart is rendered with; an overlay gives the image another name. */
export const BASE_VALUES = ['--set', 'trustDomain=example.org', '--set', 'image.registry='] as const

const HEAD =
  '# What Helm renders of charts/kleym, by test/control-plane/kustomize-base.test.ts (`vitest --update`); do not edit.\n'
const SET_BY_OVERLAYS = /^--(?:trust-domain|clusterspiffeid-class-name|classless-ignored)=/

/** The text of the base. */
export function kustomizeBase(rendered: string): string {
  const objects = parseAllDocuments(rendered).flatMap((document) => {
    const object: unknown = document.toJS()
    return isRecord(object) && !isHook(object) ? [withoutHelm(object)] : []
  })
  return (
    HEAD +
    objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')
  )
}

function isHook(object: JsonRecord): boolean {
  const annotations = digPath(object, ['metadata', 'annotations'])
  return isRecord(annotations) && Object.keys(annotations).some((key) => key.startsWith('helm.sh/hook'))
}

function withoutHelm(value: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, one]) =>
          !key.startsWith('helm.sh/') && !(key === 'app.kubernetes.io/managed-by' && one === 'Helm'),
      )
      .map(([key, one]) => [key, key === 'args' ? listAt(value, 'args').filter(isOfBase) : within(one)]),
  )
}

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(within)
  return isRecord(value) ? withoutHelm(value) : value
}

function isOfBase(arg: unknown): boolean {
  return typeof arg !== 'string' || !SET_BY_OVERLAYS.test(arg)
}
