// The kinds that a cluster with kleym, GAIE, llm-d's objectives and the SPIRE controller manager serves, as CRD objects.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isRecord, keysOf, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { idOf, type Rest } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'

const API = 'apiextensions.k8s.io/v1'
const ROOT = join(import.meta.dirname, '..', '..')

/** The file of each CRD, by the CRD's name; `modules` is the folder that `ensureBinaries` fills. */
const FILES = {
  'inferenceidentitybindings.kleym.sonda.red': (_modules: string) =>
    join(ROOT, 'charts/kleym/files/kleym.sonda.red_inferenceidentitybindings.yaml'),
  'inferencepools.inference.networking.k8s.io': (modules: string) =>
    join(modules, 'inference.networking.k8s.io_inferencepools.yaml'),
  'inferencepools.inference.networking.x-k8s.io': (modules: string) =>
    join(modules, 'inference.networking.x-k8s.io_inferencepools.yaml'),
  'inferenceobjectives.inference.networking.x-k8s.io': (modules: string) =>
    join(modules, 'inference.networking.x-k8s.io_inferenceobjectives.yaml'),
  'inferenceobjectives.llm-d.ai': (_modules: string) =>
    join(import.meta.dirname, 'crds/llm-d.ai_inferenceobjectives.yaml'),
  'clusterspiffeids.spire.spiffe.io': (modules: string) =>
    join(modules, 'spire.spiffe.io_clusterspiffeids.yaml'),
  'clusterstaticentries.spire.spiffe.io': (modules: string) =>
    join(modules, 'spire.spiffe.io_clusterstaticentries.yaml'),
  'clusterfederatedtrustdomains.spire.spiffe.io': (modules: string) =>
    join(modules, 'spire.spiffe.io_clusterfederatedtrustdomains.yaml'),
} as const

/** The name of a CRD that the harness knows. */
export type CrdName = keyof typeof FILES

export const CRD_NAMES = keysOf(FILES)

/** All kinds of pools. */
export const POOL_CRDS: readonly CrdName[] = [
  'inferencepools.inference.networking.k8s.io',
  'inferencepools.inference.networking.x-k8s.io',
]

/** The file of a CRD as its project ships it, as text. */
export function crdText(name: CrdName, modules: string): string {
  return readFileSync(FILES[name](modules), 'utf8')
}

/** A CRD as its project ships it, ready to be applied or to be changed first. */
export function readCrd(name: CrdName, modules: string): JsonRecord {
  const crd: unknown = parse(crdText(name, modules))
  if (!isRecord(crd)) throw new TypeError(`the file of CRD ${name} holds no object`)
  // The files of some projects carry an empty status, which an apply would claim.
  return Object.fromEntries(Object.entries(crd).filter(([key]) => key !== 'status'))
}

/** Applies a CRD and waits until its kind is in discovery and served. */
export async function installAndWait(admin: Rest, crd: JsonRecord): Promise<void> {
  await admin.apply(crd)
  await servedByNow(admin, crd)
}

/** Waits until the kind of an installed CRD is in discovery and served. */
export async function servedByNow(admin: Rest, crd: JsonRecord): Promise<void> {
  const { name } = idOf(crd)
  await until(async () => {
    const installed = await admin.get({ apiVersion: API, kind: 'CustomResourceDefinition', name })
    const established = listAt(installed, 'status', 'conditions').some(
      (condition) =>
        stringAt(condition, 'type') === 'Established' && stringAt(condition, 'status') === 'True',
    )
    return established && (await statusOfKind(admin, crd)) === 200
  }, `CRD ${name} to be served`)
}

/** Removes a CRD and waits until its kind is not served any more. */
export async function removeAndWait(admin: Rest, crd: JsonRecord): Promise<void> {
  const { name } = idOf(crd)
  await admin.delete({ apiVersion: API, kind: 'CustomResourceDefinition', name })
  await until(async () => (await statusOfKind(admin, crd)) === 404, `CRD ${name} to be gone`)
}

/** What a list of the kind of a CRD answers; 404 also while discovery does not list it. */
async function statusOfKind(admin: Rest, crd: JsonRecord): Promise<number> {
  const [version] = listAt(crd, 'spec', 'versions')
  const root = `/apis/${stringAt(crd, 'spec', 'group')}/${stringAt(version, 'name')}`
  const plural = stringAt(crd, 'spec', 'names', 'plural') ?? ''
  const listed = await admin.request({ method: 'GET', path: `${root}/${plural}?limit=1` })
  if (listed.status !== 200) return listed.status
  const discovered = await admin.request({ method: 'GET', path: root })
  return listAt(discovered.body, 'resources').some((resource) => stringAt(resource, 'name') === plural)
    ? 200
    : 0
}
