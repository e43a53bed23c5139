// Workloads that cannot be whole objects: patches that no kustomization names, and manifests that no API server takes. Read as
// objects they would give pods that there will never be, without the labels and containers that the patched object has.
import {
  dig,
  digPath,
  isRecord,
  listAt,
  own,
  stringAt,
  type JsonRecord,
} from '@kleym/shared/core/base/json.ts'
import { kindOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { matchSelector, selectorProblem } from '@kleym/shared/core/model/objects/label-match.ts'
import { readLabelSelector } from '@kleym/shared/core/model/objects/label-selector.ts'
import { readStringMap } from '@kleym/shared/core/model/objects/meta.ts'
import { KINDS_WITH_PODS } from '@kleym/shared/core/model/objects/workload.ts'
import { NO } from '@kleym/shared/core/model/truth/truth.ts'

/** What a strategic merge patch has, and no object: https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md */
const DIRECTIVE = '$patch'

/** Where the spec of pods stands, unless it is in a template like that of a Deployment. */
const POD_SPECS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
  ['LeaderWorkerSet', ['spec', 'leaderWorkerTemplate', 'workerTemplate', 'spec']],
])
const POD_SPEC = ['spec', 'template', 'spec']

/** Whether an object is a patch by its own words, whatever its kind. */
export function isDirective(value: JsonRecord): boolean {
  return own(value, DIRECTIVE) !== undefined
}

/** What a workload lacks that every one of its kind has, or why the API server refuses it; undefined for whole ones, and for any other kind. */
export function lackOf(value: JsonRecord): string | undefined {
  const { kind, group } = kindOf(value)
  if (!KINDS_WITH_PODS.has(qualifiedKind({ kind, group }))) return undefined
  const path = [...(POD_SPECS.get(kind) ?? POD_SPEC), 'containers']
  if (isDirective(value)) return `has a ${DIRECTIVE}`
  const containers = digPath(value, path)
  // People patch no bare pods: one that shows no containers is taken as it stands.
  if (kind === 'Pod' && containers === undefined) return refusedLabel(value)
  if (!Array.isArray(containers) || containers.length === 0) return `has no ${path.join('.')}`
  const items: readonly unknown[] = containers
  if (items.some((one) => own(one, DIRECTIVE) !== undefined)) return `has a ${DIRECTIVE} among its containers`
  if (items.some((one) => typeof own(one, 'name') !== 'string')) return 'has a container without a name'
  if (group === 'apps' && !isSelector(dig(value, 'spec', 'selector'))) return 'has no spec.selector'
  const template = digPath(value, path.slice(0, -2))
  return (
    refusedLabel(value) ?? refusedLabel(template) ?? twiceNamed(own(template, 'spec')) ?? missesItself(value)
  )
}

/** The API server takes texts alone: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
function refusedLabel(value: unknown): string | undefined {
  const labels = dig(value, 'metadata', 'labels')
  if (!isRecord(labels)) return undefined
  const [key] = Object.entries(labels).find(([, one]) => typeof one !== 'string' && one !== null) ?? []
  return key === undefined ? undefined : `has a label ${key} that is no text: put its value into quotes`
}

/** Containers and init containers of a pod have different names. */
function twiceNamed(spec: unknown): string | undefined {
  const names = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].map((one) =>
    stringAt(one, 'name'),
  )
  const twice = names.find((name, at) => names.indexOf(name) < at)
  return twice === undefined ? undefined : `has two containers with the name ${twice}`
}

/** A workload of `apps/v1` selects the pods of its own template. */
function missesItself(value: JsonRecord): string | undefined {
  if (isPlainlyMatched(value)) return undefined
  const problems: string[] = []
  const selector = readLabelSelector(dig(value, 'spec', 'selector'), 'spec.selector', (one) =>
    problems.push(one),
  )
  const problem = problems[0] ?? selectorProblem(selector)
  if (problem !== undefined) return `has a spec.selector that the API server refuses: ${problem}`
  const labels = readStringMap(dig(value, 'spec', 'template', 'metadata', 'labels'))
  return matchSelector(selector, { labels }) === NO
    ? 'has a spec.selector that the labels of its own template do not match'
    : undefined
}

/** Whether the labels of its template are all that the selector asks for. What a label cannot be is a placeholder (`placeholders.ts`). */
function isPlainlyMatched(value: JsonRecord): boolean {
  const selector = dig(value, 'spec', 'selector')
  const asked = own(selector, 'matchLabels')
  if (!isRecord(selector) || !isRecord(asked) || Object.keys(selector).length > 1) return false
  const labels = dig(value, 'spec', 'template', 'metadata', 'labels')
  return Object.keys(asked).every((key) => typeof asked[key] === 'string' && own(labels, key) === asked[key])
}

/** An empty selector is none: the API server refuses it in `apps/v1`. */
function isSelector(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0
}
