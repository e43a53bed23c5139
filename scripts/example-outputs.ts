// The ClusterSPIFFEIDs that kleym has written for the estate of examples/, as a dump of the cluster would hold them: what
// `diff` compares with. One has drifted by hand and one is missing, so that there is something to see.
import { analyse } from '../shared/src/core/analysis/states/analysis.ts'
import { readMeta } from '../shared/src/core/model/objects/meta.ts'
import type { RawObject } from '../shared/src/core/model/objects/raw.ts'
import { readScmSettings } from '../shared/src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../shared/src/core/snapshot/snapshot.ts'
import { sha256Hex } from '../shared/src/core/base/text/sha256.ts'
import { parseAllDocuments, stringify } from 'yaml'

/** The binding whose output a user has edited, and the one whose output a user has deleted. */
const DRIFTED = 'team-a/embed'
const DELETED = 'serving/deepseek'

const HEADER = `# What kleym has written for the bindings of this estate, as in the cluster. Made by \`npm run generate\`; do not edit.
# A user has added a ttl to the output of ${DRIFTED}, and deleted that of ${DELETED}.
`

/** The dump, from the manifests of the estate. Only bindings with a UID have an output: the others are manifests. */
export function exampleOutputs(manifests: readonly string[]): string {
  const objects = manifests.flatMap(parseManifests)
  const config = {
    trustDomain: { kind: 'set', value: 'example.org' },
    className: 'spire-mgmt-spire',
    variantLabelKey: 'llm-d.ai/role',
  } as const
  const evidence = { trustDomain: undefined, className: undefined, clusterSpiffeIdClasses: [] }
  const { settings } = readScmSettings(undefined, 'none', evidence)
  const { snapshot, settled } = analyse(readSnapshot({ objects }), config, settings)
  const documents = snapshot.bindings.read.flatMap((binding) => {
    const judgement = settled.judgements.get(binding.key)
    if (judgement?.state !== 'ready' || binding.meta.uid === undefined || binding.key === DELETED) return []
    const { output } = judgement.resolved
    return [
      {
        ...output,
        metadata: {
          ...output.metadata,
          uid: uidFor(output.metadata.name),
          creationTimestamp: secondsAfter(binding.meta.createdAt ?? '2026-01-01T00:00:00Z', 2),
        },
        spec: binding.key === DRIFTED ? { ...output.spec, ttl: '12h' } : output.spec,
      },
    ]
  })
  return (
    HEADER +
    documents
      .map((document) => `---\n${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`)
      .join('')
  )
}

function parseManifests(text: string): readonly RawObject[] {
  return parseAllDocuments(text).flatMap((document): RawObject[] => {
    const value: unknown = document.toJS()
    if (typeof value !== 'object' || value === null || readMeta(value).name === '') return []
    return [{ value: { ...value } }]
  })
}

/** A UID that hangs on the name alone, in the form that the API server gives them. */
function uidFor(name: string): string {
  const hex = sha256Hex(name)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

function secondsAfter(time: string, seconds: number): string {
  return new Date(Date.parse(time) + seconds * 1000).toISOString().replace('.000Z', 'Z')
}
