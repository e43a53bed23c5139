// Single edits of a world, as people make them: of labels, selectors, service accounts, classes, templates, fallback, namespaces,
// bindings, pools and objectives. One of many per world, drawn from a seed.
import * as fc from 'fast-check'
import { isRecord, own, type JsonRecord } from '../../src/core/base/json.ts'
import { DEFAULT_VARIANT_LABEL_KEY } from '../../src/core/model/names.ts'

/** What is done to one object; undefined: it is deleted. */
type Edit = (object: JsonRecord) => JsonRecord | undefined

const ID = 'spiffe://example.org'

/** A value of one field, in place of what stands there; undefined takes the field away. */
function set(path: readonly string[], value: unknown): Edit {
  const [key = '', ...rest] = path
  return (object) => {
    const { [key]: before, ...others } = object
    const after = rest.length === 0 ? value : set(rest, value)(isRecord(before) ? before : {})
    return after === undefined ? others : { ...others, [key]: after }
  }
}

const gone: Edit = () => undefined

const LABELS = ['metadata', 'labels']
const POOL_LABELS = [{ app: 'llama' }, { app: 'other' }, { app: 'llama', kind: 'pool' }]
const SELECTORS = [undefined, {}, { matchLabels: { app: 'llama' } }, { matchLabels: { app: 'other' } }]

const EDITS: Readonly<Record<string, readonly Edit[]>> = {
  Namespace: [
    set([...LABELS, 'tier'], 'team-b'),
    set([...LABELS, 'tier'], 'none'),
    set([...LABELS, 'note'], 'x'),
  ],
  Node: [set([...LABELS, 'zone'], 'elsewhere'), gone],
  Pod: [
    set([...LABELS, 'app'], 'llama'),
    set([...LABELS, 'app'], 'other'),
    set([...LABELS, DEFAULT_VARIANT_LABEL_KEY], 'prefill'),
    set([...LABELS, DEFAULT_VARIANT_LABEL_KEY], 'decode'),
    set([...LABELS, 'note'], 'x'),
    set(['metadata', 'annotations', 'id'], `${ID}/edited`),
    set(['metadata', 'namespace'], 'team-a'),
    set(['metadata', 'namespace'], 'team-b'),
    set(['spec', 'serviceAccountName'], 'runner'),
    set(['spec', 'serviceAccountName'], 'other'),
    set(['spec', 'containers'], [{ name: 'vllm' }, { name: 'renamed' }]),
    set(['spec', 'containers'], [{ name: 'vllm' }, { name: 'proxy' }, { name: 'more' }]),
    set(['spec', 'nodeName'], 'n1'),
    set(['spec', 'nodeName'], 'n2'),
    gone,
  ],
  ClusterSPIFFEID: [
    ...SELECTORS.map((selector) => set(['spec', 'podSelector'], selector)),
    set(['spec', 'namespaceSelector'], undefined),
    set(['spec', 'namespaceSelector'], { matchLabels: { tier: 'team-a' } }),
    set(['spec', 'namespaceSelector'], { matchLabels: { tier: 'team-b' } }),
    set(['spec', 'workloadSelectorTemplates'], []),
    set(['spec', 'workloadSelectorTemplates'], ['k8s:sa:runner']),
    set(['spec', 'workloadSelectorTemplates'], ['k8s:container-name:proxy']),
    set(['spec', 'spiffeIDTemplate'], `${ID}/edited/{{ .PodMeta.Name }}`),
    set(['spec', 'spiffeIDTemplate'], `${ID}/edited`),
    set(['spec', 'spiffeIDTemplate'], '{{ .Broken'),
    set(['spec', 'fallback'], true),
    set(['spec', 'fallback'], false),
    set(['spec', 'className'], 'another'),
    set(['spec', 'hint'], 'edited'),
    gone,
  ],
  ClusterStaticEntry: [
    set(['spec', 'spiffeID'], `${ID}/edited`),
    set(['spec', 'parentID'], `${ID}/spire/agent/k8s_psat/prod/uid-of-n2`),
    set(['spec', 'selectors'], ['k8s:sa:runner']),
    gone,
  ],
  InferenceIdentityBinding: [
    set(['spec', 'serviceAccountName'], 'other'),
    set(['spec', 'containerName'], 'proxy'),
    set(['spec', 'poolRef', 'name'], 'none'),
    set(['spec', 'objectiveRef', 'name'], 'none'),
    set(['spec', 'identityBoundary'], { variant: 'decode' }),
    set(['metadata', 'name'], 'edited'),
    gone,
  ],
  InferencePool: [
    ...POOL_LABELS.map((labels) => set(['spec', 'selector', 'matchLabels'], labels)),
    set(['metadata', 'name'], 'edited'),
    gone,
  ],
  InferenceObjective: [set(['metadata', 'name'], 'edited'), set(['spec', 'poolRef', 'name'], 'none'), gone],
}

/** An edited world, and what was edited. */
export interface EditedWorld {
  readonly kind: string
  readonly objects: readonly JsonRecord[]
}

/** So many edits of a world; the same for the same seed. An edit may leave everything as it is. */
export function editsOf(objects: readonly JsonRecord[], seed: number, count: number): readonly EditedWorld[] {
  const all = objects.flatMap((object, at) =>
    (EDITS[String(own(object, 'kind'))] ?? []).map((edit) => ({ object, at, edit })),
  )
  const drawn = fc.sample(fc.constantFrom(...all), { seed, numRuns: count })
  return drawn.map(({ object, at, edit }) => ({
    kind: String(own(object, 'kind')),
    objects: objects.flatMap((one, place): readonly JsonRecord[] => {
      const after = place === at ? edit(one) : one
      return after === undefined ? [] : [after]
    }),
  }))
}

/** The kinds that edits reach. */
export const EDITED_KINDS = Object.keys(EDITS)
