// What Argo CD and Flux make of a binding's status by examples/gitops, run in Argo CD's Lua machine and in Flux's own
// evaluator; the table of docs/gitops.md says the same.
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { BINDING_GROUP, BINDING_KIND, BINDING_VERSION } from '../../shared/src/core/model/names.ts'
import { REASONS } from '../../shared/src/core/decide/reasons/reasons.ts'
import { ensureClient, FIRST_BUILD_MS } from './client-binaries.ts'
import { runKubectl } from './kubectl.ts'

const ROOT = join(import.meta.dirname, '../..')
const LUA = stringAt(
  example('argocd-cm.yaml'),
  'data',
  `resource.customizations.health.${BINDING_GROUP}_${BINDING_KIND}`,
)
const [EXPRESSIONS] = listAt(example('flux-kustomization.yaml'), 'spec', 'healthCheckExprs')

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function example(name: string): unknown {
  return parse(read(`examples/gitops/${name}`))
}

interface Health {
  readonly argo: string
  readonly message: string
  readonly flux: string
  readonly kstatus: string
}

let program = ''
beforeAll(async () => {
  program = await ensureClient('health')
}, FIRST_BUILD_MS)

async function healthOf(objects: readonly JsonRecord[]): Promise<readonly Health[]> {
  const asked = JSON.stringify({ lua: LUA, flux: EXPRESSIONS, objects })
  const { status, stdout, stderr } = await runKubectl(program, [], asked, tmpdir())
  if (status !== 0) throw new Error(stderr)
  const answers: unknown = JSON.parse(stdout)
  if (!Array.isArray(answers)) throw new TypeError(stdout)
  return answers.filter(isRecord).map((one) => ({
    argo: stringAt(one, 'argo', 'status') ?? '',
    message: stringAt(one, 'argo', 'message') ?? '',
    flux: stringAt(one, 'flux') ?? '',
    kstatus: stringAt(one, 'kstatus') ?? '',
  }))
}

function binding(status: JsonRecord | undefined, metadata: JsonRecord = {}): JsonRecord {
  return {
    apiVersion: `${BINDING_GROUP}/${BINDING_VERSION}`,
    kind: BINDING_KIND,
    metadata: { name: 'chat', namespace: 'team-a', generation: 2, ...metadata },
    spec: { poolRef: { name: 'llama' } },
    ...(status !== undefined && { status }),
  }
}

function condition(type: string, status: string, reason: string, message = 'why'): JsonRecord {
  return { type, status, reason, message, observedGeneration: 2, lastTransitionTime: '2026-11-22T00:00:00Z' }
}

function told(...conditions: readonly JsonRecord[]): JsonRecord {
  return { observedGeneration: 2, conditions }
}

const READY = condition('Ready', 'True', 'Reconciled')
const REFUSED = condition('Ready', 'False', 'TargetPoolNotFound')

/** The rows of the page, and an object of each. */
const CASES: readonly (readonly [row: string, object: JsonRecord])[] = [
  ['no status yet', binding(undefined)],
  ['a status of an older generation', binding({ ...told(REFUSED), observedGeneration: 1 })],
  ['`Ready=Unknown`', binding(told(condition('Ready', 'Unknown', 'WaitingForPeer')))],
  ['`Ready=False`', binding(told(REFUSED, condition('InForce', 'False', 'NoOutput')))],
  ['`Ready=True`', binding(told(READY, condition('InForce', 'True', 'Registered')))],
  ['`Ready=True`, `InForce=False`', binding(told(READY, condition('InForce', 'False', 'NoPods')))],
  ['`Ready=True`, `InForce=Unknown`', binding(told(READY, condition('InForce', 'Unknown', 'NotHandled')))],
  ['being deleted', binding(told(READY), { deletionTimestamp: '2026-11-22T00:00:00Z' })],
]

test('the table of docs/gitops.md is what Argo CD and Flux say', async () => {
  const answers = await healthOf(CASES.map(([, object]) => object))
  const rows = CASES.map(([row], at) => {
    const { argo = '', flux = '', kstatus = '' } = answers[at] ?? {}
    return `| ${row} | ${argo} | ${flux} | ${kstatus} |`
  })
  const page = read('docs/gitops.md')
  const [, table = ''] = /^\| binding \| Argo CD \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
  expect(table.trimEnd().split('\n')).toEqual(rows)
})

test('every reason that Ready can have leads where it should', async () => {
  const reasons = Object.entries(REASONS)
  const answers = await healthOf(
    reasons.map(([reason, { ready }]) => binding(told(condition('Ready', ready, reason)))),
  )
  const wanted = { True: 'Healthy Current', False: 'Degraded Failed', Unknown: 'Progressing InProgress' }
  expect(answers.map(({ argo, flux }) => `${argo} ${flux}`)).toEqual(
    reasons.map(([, { ready }]) => wanted[ready]),
  )
  expect(answers.map(({ message }) => message)).toEqual(reasons.map(([reason]) => `${reason}: why`))
})

describe('what Argo CD shows beside it', () => {
  test.each<[what: string, object: JsonRecord, message: string]>([
    ['where nothing is known yet', binding(undefined), 'Waiting for kleym'],
    ['in force', binding(told(READY, condition('InForce', 'True', 'Registered'))), 'Reconciled: why'],
    [
      'not in force',
      binding(told(READY, condition('InForce', 'False', 'Masked', 'by an older one'))),
      'Reconciled: why Not in force: Masked: by an older one',
    ],
    ['of an operator that does not tell InForce', binding(told(READY)), 'Reconciled: why'],
    ['an empty message', binding(told(condition('Ready', 'True', 'Reconciled', ''))), 'Reconciled'],
  ])('%s', async (_what, object, message) => {
    expect(await healthOf([object])).toMatchObject([{ message }])
  })

  test('a status that nobody of ours wrote is waited for, and is no error', async () => {
    const odd = [
      {},
      { observedGeneration: 2 },
      { observedGeneration: 2, conditions: [] },
      { observedGeneration: 2, conditions: [{ type: 'Ready' }] },
      { conditions: [READY] },
    ]
    const answers = await healthOf(odd.map((one) => binding(one)))
    expect(answers.map(({ argo }) => argo)).toEqual(odd.map(() => 'Progressing'))
  })
})

test('the page shows the expressions of the file', () => {
  const [, shown = ''] = /```yaml\n( {2}healthCheckExprs:\n[\s\S]*?)```/.exec(read('docs/gitops.md')) ?? []
  expect(shown).not.toBe('')
  expect(read('examples/gitops/flux-kustomization.yaml')).toContain(shown)
})
