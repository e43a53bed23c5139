// A namespace as an operator and SCM have left it: bindings with finalizer and status, and their outputs with counters. The core says what
// stands in them, so that an operator that starts over it writes nothing.
import { nextStatus } from '../../shared/src/core/decide/plan/status.ts'
import { DEFAULT_LEASE_NAME } from '../../shared/src/core/decide/settings/flags.ts'
import type { Config } from '../../shared/src/core/decide/settings/config.ts'
import { isRecord, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { namespacedName } from '../../shared/src/core/model/namespaced-name.ts'
import { DEFAULT_VARIANT_LABEL_KEY, FINALIZER } from '../../shared/src/core/model/names.ts'
import { OPERATOR_NAMESPACE } from '../../test/control-plane/operator-access.ts'
import { TRUST_DOMAIN } from '../../test/control-plane/operator.ts'
import { settledCluster } from '@kleym/testing/manifests.ts'
import type { BenchEstate } from '../operator/shapes.ts'

/** The settings of an operator that is given a trust domain and nothing else. */
const CONFIG: Config = {
  trustDomain: { kind: 'set', value: TRUST_DOMAIN },
  className: '',
  variantLabelKey: DEFAULT_VARIANT_LABEL_KEY,
  install: namespacedName(OPERATOR_NAMESPACE, DEFAULT_LEASE_NAME),
}

/** Bindings and outputs of a namespace; `status` is what SCM has written into each output. */
export function settledObjects(
  { references, bindings }: BenchEstate,
  status: JsonRecord,
): readonly JsonRecord[] {
  const stored = bindings.map((object) => withMetadata(object, { uid: crypto.randomUUID(), generation: 1 }))
  const { snapshot, settled } = settledCluster([...references, ...stored], { config: CONFIG })
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  return snapshot.bindings.read.flatMap(({ key }, at) => {
    const judgement = settled.first.judgements.get(key)
    const object = stored[at]
    if (judgement?.state !== 'ready' || object === undefined) throw new Error(`${key} is not ready`)
    const { output } = judgement.resolved
    const uid = crypto.randomUUID()
    const inForce = { name: output.metadata.name, uid }
    const said = nextStatus(undefined, judgement, {
      config: CONFIG,
      generation: 1,
      now,
      inForce,
      inForceReason: 'Registered',
    })
    return [
      { ...withMetadata(object, { finalizers: [FINALIZER] }), status: said },
      { ...withMetadata({ ...output }, { uid, generation: 1 }), status },
    ]
  })
}

function withMetadata(object: JsonRecord, more: JsonRecord): JsonRecord {
  const { metadata } = object
  return { ...object, metadata: { ...(isRecord(metadata) ? metadata : {}), ...more } }
}
