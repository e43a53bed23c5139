// A ClusterSPIFFEID as YAML for a diff: what kleym writes and what drift would be, without what a server adds.
import { CLUSTER_SPIFFE_ID, apiVersionOf } from '@kleym/shared/core/model/kinds.ts'
import { type Output, metadataAfterWrite } from '@kleym/shared/core/decide/index.ts'
import { isRecord } from '@kleym/shared/core/base/json.ts'
import type { ClusterSpiffeId } from '@kleym/shared/core/model/objects/clusterspiffeid.ts'
import { ANNOTATION_BINDING_UID, CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { compareBytes } from '@kleym/shared/core/base/text/bytes.ts'
import { stringify } from 'yaml'

/** The output as it should be; `withUid` false leaves the UID annotation out of both sides. */
export function wantedText(output: Output, withUid: boolean): string {
  return textOf(
    output.metadata.name,
    { ...output.metadata.labels },
    { ...output.metadata.annotations },
    output.spec,
    withUid,
  )
}

/** A live object; labels and annotations of other people are shown, since they stay. */
export function liveText(live: ClusterSpiffeId, withUid: boolean): string {
  return textOf(
    live.meta.name,
    Object.fromEntries(live.meta.labels),
    Object.fromEntries(live.meta.annotations),
    live.rawSpec,
    withUid,
  )
}

/** What an update leaves: our labels and annotations over those that are there. */
export function updatedText(live: ClusterSpiffeId, output: Output, withUid: boolean): string {
  const { labels, annotations } = metadataAfterWrite(live.meta, output)
  return textOf(
    output.metadata.name,
    Object.fromEntries(labels),
    Object.fromEntries(annotations),
    output.spec,
    withUid,
  )
}

function textOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
  spec: object,
  withUid: boolean,
): string {
  const shown = Object.fromEntries(
    Object.entries(annotations).filter(([key]) => withUid || key !== ANNOTATION_BINDING_UID),
  )
  return stringify(
    {
      apiVersion: apiVersionOf(CLUSTER_SPIFFE_ID),
      kind: CLUSTER_SPIFFE_ID_KIND,
      metadata: { name, labels: sorted(labels), annotations: sorted(shown) },
      spec: sorted(spec),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )
}

/** With the keys of each mapping in order: another order is no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted(compareBytes)
      .map((key) => [key, sorted(value[key])]),
  )
}
