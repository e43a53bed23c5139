// docs/kustomize.md with the real `kubectl kustomize`: with our file of names a prefix renames what a binding names together with
// it, and without the file it does not, which is what the page is for.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { inProcess } from '../../plugin/test/support/in-process.ts'
import { ROOT } from '../house/files.ts'
import { ensureBinaries } from './binaries.ts'
import { runKubectl } from './kubectl.ts'

const PAGE = readFileSync(join(ROOT, 'docs/kustomize.md'), 'utf8')
const [KUSTOMIZATION = '', LABELS = ''] = [...PAGE.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, block = '']) => block,
)
const NAMES = 'kleym-names.yaml'

let kubectl = ''
let folder = ''
beforeAll(async () => {
  const binaries = await ensureBinaries()
  if (!binaries.available) throw new Error(binaries.why)
  kubectl = binaries.programs.kubectl
  folder = mkdtempSync(join(tmpdir(), 'kleym-kustomize-'))
  cpSync(join(ROOT, 'examples/kustomize'), folder, { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What kustomize makes of a kustomization beside the example's base. */
async function built(name: string, kustomization: string): Promise<readonly JsonRecord[]> {
  const overlay = join(folder, name)
  mkdirSync(overlay)
  writeFileSync(join(overlay, 'kustomization.yaml'), kustomization)
  cpSync(join(folder, 'overlay', NAMES), join(overlay, NAMES))
  const { status, stdout, stderr } = await runKubectl(kubectl, ['kustomize', overlay], undefined, folder)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return parseAllDocuments(stdout).flatMap((document) => {
    const object: unknown = document.toJS()
    return isRecord(object) ? [object] : []
  })
}

function ofKind(objects: readonly JsonRecord[], kind: string): JsonRecord {
  const found = objects.find((one) => stringAt(one, 'kind') === kind)
  if (found === undefined) throw new Error(`kustomize has made no ${kind}`)
  return found
}

/** The names that objects have, and those by which a binding and an objective name them. */
function names(objects: readonly JsonRecord[]): JsonRecord {
  const nameOf = (kind: string): unknown => dig(ofKind(objects, kind), 'metadata', 'name')
  const binding = ofKind(objects, 'InferenceIdentityBinding')
  return {
    pool: nameOf('InferencePool'),
    poolRef: dig(binding, 'spec', 'poolRef', 'name'),
    poolOfObjective: dig(ofKind(objects, 'InferenceObjective'), 'spec', 'poolRef', 'name'),
    objective: nameOf('InferenceObjective'),
    objectiveRef: dig(binding, 'spec', 'objectiveRef', 'name'),
    account: nameOf('ServiceAccount'),
    serviceAccountName: dig(binding, 'spec', 'serviceAccountName'),
  }
}

const TOGETHER = {
  pool: 'canary-llama',
  poolRef: 'canary-llama',
  poolOfObjective: 'canary-llama',
  objective: 'canary-chat',
  objectiveRef: 'canary-chat',
  account: 'canary-llama',
  serviceAccountName: 'canary-llama',
}

test('the kustomization of the page is that of the example', () => {
  expect(parse(KUSTOMIZATION)).toEqual(
    parse(readFileSync(join(ROOT, 'examples/kustomize/overlay/kustomization.yaml'), 'utf8')),
  )
})

test('with the file of names everything is renamed together', async () => {
  expect(names(await built('with', KUSTOMIZATION))).toEqual(TOGETHER)
})

test('a suffix too', async () => {
  const renamed = Object.fromEntries(
    Object.entries(TOGETHER).map(([key, name]) => [key, `${name.replace('canary-', '')}-2`]),
  )
  expect(
    names(await built('suffix', KUSTOMIZATION.replace('namePrefix: canary-', 'nameSuffix: "-2"'))),
  ).toEqual(renamed)
})

test('a pool of the older group too', async () => {
  const base = join(folder, 'base/serving.yaml')
  const before = readFileSync(base, 'utf8')
  writeFileSync(
    base,
    before.replace('inference.networking.k8s.io/v1', 'inference.networking.x-k8s.io/v1alpha2'),
  )
  const objects = await built('older', KUSTOMIZATION)
  writeFileSync(base, before)
  expect(stringAt(ofKind(objects, 'InferencePool'), 'apiVersion')).toBe(
    'inference.networking.x-k8s.io/v1alpha2',
  )
  expect(names(objects)).toEqual(TOGETHER)
})

test('without it the binding names what is not there any more', async () => {
  const bare = KUSTOMIZATION.replace(/^configurations:[\s\S]*/m, '')
  expect(names(await built('without', bare))).toMatchObject({ pool: 'canary-llama', poolRef: 'llama' })
})

test('the labels of the page reach the selector of the pool', async () => {
  const objects = await built('labels', KUSTOMIZATION + LABELS)
  expect(dig(ofKind(objects, 'InferencePool'), 'spec', 'selector', 'matchLabels')).toEqual({
    app: 'llama',
    release: 'canary',
  })
})

test('kleym calls the binding of the build ready, and without the file of names refused', async () => {
  const verdicts: unknown[] = []
  for (const name of ['with', 'without']) {
    const { stdout } = await runKubectl(kubectl, ['kustomize', join(folder, name)], undefined, folder)
    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, stdout)
    const args = ['explain', '-A', '--offline', '-f', file, '--trust-domain', 'example.org', '-o', 'json']
    const ran = await inProcess(args, folder)
    const [binding] = listAt(JSON.parse(ran.stdout), 'bindings')
    verdicts.push(stringAt(binding, 'reason'))
  }
  expect(verdicts).toEqual(['Reconciled', 'TargetPoolNotFound'])
})
