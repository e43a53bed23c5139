// A control plane with the controller of a serving stack on it, as its project builds it: with its CRDs and its webhooks.
import { isRecord, listAt, stringAt, type JsonRecord } from '../../../shared/src/core/base/json.ts'
import { until } from '@kleym/testing/wait.ts'
import { ensureClient } from '../client-binaries.ts'
import { DEFAULT_CONTROLLERS, startControlPlane, type ControlPlane } from '../control-plane.ts'
import { makerManifests } from '../module-crds.ts'
import { freePorts } from '../ports.ts'
import type { Program } from '../processes.ts'
import { idOf } from '../rest.ts'
import type { Maker } from '../tools.ts'

export const NAMESPACE = 'team-a'
/** Beside `default`, which each namespace has. */
export const ACCOUNTS: readonly string[] = ['runner', 'decoder']

/** Hundreds of pods, each through a webhook. */
const PODS_MS = 180_000

/** What a controller is started with. */
interface Start {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A controller at work. */
export interface MakerPlane {
  readonly cp: ControlPlane
  readonly program: Program
}

/** Starts it all. `startOf` is given a port of the loopback address for its webhooks. */
export async function startMaker(
  maker: Maker,
  startOf: (cp: ControlPlane, port: number) => Start,
): Promise<MakerPlane> {
  const command = await ensureClient(maker)
  const manifests = await makerManifests(maker)
  const cp = await startControlPlane({ controllers: [...DEFAULT_CONTROLLERS, 'statefulset-controller'] })
  try {
    const [crds, webhooks] = [manifests.filter(isCrd), manifests.filter((object) => !isCrd(object))]
    await Promise.all(crds.map((crd) => cp.installCrd(crd)))
    await cp.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
      ...ACCOUNTS.map((name) => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name, namespace: NAMESPACE },
      })),
    ])
    const [port = 0] = await freePorts(1)
    const program = await cp.start({ name: maker, command, ...startOf(cp, port) })
    await cp.apply(webhooks.map((configuration) => calledAt(configuration, port, cp.ca)))
    await until(
      () => cp.admin.get({ apiVersion: 'v1', kind: 'ServiceAccount', namespace: NAMESPACE, name: 'default' }),
      'the service account of pods that name none',
    )
    return { cp, program }
  } catch (error) {
    await cp.stop()
    throw error
  }
}

function isCrd(object: JsonRecord): boolean {
  return object['kind'] === 'CustomResourceDefinition'
}

/** A configuration of webhooks that are not behind a Service, but on a port of this machine. */
function calledAt(configuration: JsonRecord, port: number, ca: string): JsonRecord {
  return {
    ...configuration,
    webhooks: listAt(configuration, 'webhooks').map((webhook) => ({
      ...(isRecord(webhook) ? webhook : {}),
      timeoutSeconds: 30,
      clientConfig: {
        url: `https://127.0.0.1:${port}${stringAt(webhook, 'clientConfig', 'service', 'path') ?? ''}`,
        caBundle: Buffer.from(ca).toString('base64'),
      },
    })),
  }
}

/** Creates objects. A webhook that does not answer yet is waited for. */
export async function create({ cp, program }: MakerPlane, objects: readonly JsonRecord[]): Promise<void> {
  for (const object of objects) {
    if (program.ended() !== undefined) throw new Error(`${program.name} has ended: ${program.lastWords()}`)
    await until(() => cp.admin.apply(object), `${idOf(object).name} to be created`)
  }
}

/** Waits until each of these objects has made so many pods, by the object that a pod is of; these pods. */
export async function podsOf(
  { cp, program }: MakerPlane,
  objectOf: (pod: JsonRecord) => string,
  counts: ReadonlyMap<string, number>,
): Promise<readonly JsonRecord[]> {
  let lacking: readonly string[] = []
  try {
    return await until(
      async () => {
        const all = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: NAMESPACE })
        const pods = all.filter((pod) => counts.has(objectOf(pod)))
        const found = Map.groupBy(pods, objectOf)
        lacking = [...counts]
          .filter(([name, count]) => (found.get(name)?.length ?? 0) !== count)
          .map(([name, count]) => `${name}: ${found.get(name)?.length ?? 0} of ${count}`)
        return lacking.length === 0 && pods
      },
      'all pods to be there',
      PODS_MS,
    )
  } catch (error) {
    throw new Error(`${lacking.join(', ')}\n${program.lastWords()}`, { cause: error })
  }
}
