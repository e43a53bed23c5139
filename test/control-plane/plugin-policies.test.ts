// Access policies on a real API server, with the CRD of Kube Agentic Networking as its module ships it: the same findings
// live and from files, and the four answers of a kind that is absent, forbidden, empty or too old.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { readMeta } from '../../shared/src/core/model/objects/meta.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { built } from '../e2e/plugin.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { installAndWait, removeAndWait } from './crds.ts'
import { writeKubeconfig } from './credentials.ts'
import { applyEstate, type Applied } from './examples.ts'
import { kubectlKleym, type PluginRun } from './kubectl-kleym.ts'
import { policyCrds } from './module-crds.ts'
import { namespace } from './objects.ts'
import type { ObjectId } from './rest.ts'

const RBAC = 'rbac.authorization.k8s.io'
const GROUP = 'agentic.networking.x-k8s.io'
const POLICIES = 'XAccessPolicy.agentic.networking.x-k8s.io'
/** May read everything that kleym asks for. */
const READER = 'reader'
/** The same but for policies. */
const BLIND = 'blind'
/** The same, with policies of namespace agents alone. */
const AGENTS = 'agents-reader'
const USERS = [READER, BLIND, AGENTS]
/** Every command that may say something about policies. */
const COMMANDS = [
  ['explain', '-A'],
  ['explain', 'chat', '-n', 'team-a'],
  ['who-selects', '-A'],
  ['conflicts', '-A'],
  ['diff', '-A'],
] as const

const COMMANDS_OF_NAMESPACES = [
  ['policies', '-n', 'agents'],
  ['conflicts', '-n', 'agents'],
  ['conflicts', '-n', 'team-a'],
] as const

let cp: ControlPlane
let crds: readonly JsonRecord[]
beforeAll(async () => {
  await built()
  crds = await policyCrds()
  cp = await startControlPlane({ users: USERS.map((name) => ({ name })) })
  await cp.apply(access())
})
afterAll(() => cp?.stop())

/** A rule that lets a user read. */
function may(apiGroups: readonly string[], resources: readonly string[]): JsonRecord {
  return { apiGroups, resources, verbs: ['get', 'list'] }
}

/** A role of that name with these rules, and the user of that name bound to it; in a namespace, or in all. */
function granted(name: string, rules: readonly JsonRecord[], space?: string): readonly JsonRecord[] {
  const kind = space === undefined ? 'ClusterRole' : 'Role'
  const metadata = { name, ...(space === undefined ? {} : { namespace: space }) }
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [{ apiGroup: RBAC, kind: 'User', name }],
    },
  ]
}

function access(): readonly JsonRecord[] {
  const rules = [
    may(['kleym.sonda.red'], ['inferenceidentitybindings']),
    may(['spire.spiffe.io'], ['clusterspiffeids', 'clusterstaticentries']),
    may(
      ['inference.networking.k8s.io', 'inference.networking.x-k8s.io', 'llm-d.ai'],
      ['inferencepools', 'inferenceobjectives'],
    ),
    may([''], ['pods', 'namespaces', 'nodes', 'endpoints', 'configmaps']),
    may(['apps', 'batch'], ['deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs']),
  ]
  const policies = may([GROUP], ['xaccesspolicies'])
  return [
    ...granted(READER, [...rules, policies]),
    ...granted(BLIND, rules),
    ...granted(AGENTS, rules),
    namespace('agents'),
    ...granted(AGENTS, [policies], 'agents'),
  ]
}

function kleym(user: string, ...args: readonly string[]): Promise<PluginRun> {
  const kubeconfig = join(cp.folder, `plugin-${user}`)
  const { server, ca } = cp
  writeKubeconfig(kubeconfig, { server, ca, user, token: cp.tokenOf(user), namespace: 'team-a' })
  return kubectlKleym(cp, args, { kubeconfig })
}

async function reportOf(user: string, ...args: readonly string[]): Promise<JsonRecord> {
  const { stdout, stderr } = await kleym(user, ...args, '-o', 'json')
  requireValidReport(stdout)
  const report: unknown = stdout === '' ? undefined : JSON.parse(stdout)
  if (isRecord(report)) return report
  throw new Error(`kubectl kleym ${args.join(' ')} printed no report: ${stderr}`)
}

/** The codes of the findings about policies. */
function policyCodesIn(report: JsonRecord): ReadonlySet<string> {
  const codes = listAt(report, 'findings').map((one) => stringAt(one, 'code') ?? '')
  return new Set(codes.filter((code) => code.startsWith('KLM6')))
}

/** Every command's whole answer. */
async function answers(): Promise<readonly PluginRun[]> {
  const all: PluginRun[] = []
  for (const args of COMMANDS)
    for (const output of ['text', 'json']) all.push(await kleym(READER, ...args, '-o', output))
  return all
}

let withoutKind: readonly PluginRun[]
let applied: Applied

describe('where the API server has no such kind', () => {
  beforeAll(async () => {
    applied = await applyEstate(cp)
    withoutKind = await answers()
  })

  test('none of the policies of the estate can be there', () => {
    const reasons = applied.notApplied.flatMap(({ kind, reason }) =>
      kind === 'XAccessPolicy' ? [reason] : [],
    )
    expect(reasons).toHaveLength(18)
    expect(new Set(reasons)).toEqual(new Set(['this cluster does not serve the kind']))
  })

  test('no command but one says a word about them', () => {
    for (const { stdout, stderr } of withoutKind) {
      expect(stdout.length).toBeGreaterThan(100)
      expect(stdout + stderr).not.toMatch(/polic(?:y|ies)|AccessPolicy|KLM6/i)
    }
  })

  test('`policies` says that the kind is not there, which is a complete answer', async () => {
    const run = await kleym(READER, 'policies', '-A')
    expect(run.stdout).toMatch(/this cluster does not serve XAccessPolicy\.agentic/)
    expect(run.code).toBe(0)
    expect((await kleym(BLIND, 'policies', '-A')).stdout).toBe(run.stdout)
  })
})

describe('where there are policies', () => {
  beforeAll(async () => {
    for (const crd of crds) await installAndWait(cp.admin, crd)
    applied = await applyEstate(cp)
    await makeStale('stale')
  })

  test('the real CRD takes those of the estate that say that it does', () => {
    const refused = applied.notApplied.filter(({ kind }) => kind === 'XAccessPolicy')
    expect(refused.map(({ name }) => name)).toEqual(['old-group', 'proposed'])
    expect(refused[1]?.reason).toMatch(/spec\.rules\[0\]\.source\.spiffe/)
  })

  test('every finding about them comes up', async () => {
    const codes = policyCodesIn(await reportOf(READER, 'conflicts', '-A'))
    expect([...codes].toSorted()).toEqual(
      // KLM609 is for what this server does not give out, and no binding is unnamed where a rule means all.
      ['KLM601', 'KLM602', 'KLM603', 'KLM605', 'KLM606', 'KLM607', 'KLM608'],
    )
  })

  test('an identity that no policy names is reported where no rule means every principal', async () => {
    const wide = ['unbounded', 'mismatch']
    const kept = await Promise.all(wide.map((name) => cp.admin.get(policyId(name))))
    await cp.kubectl(['delete', 'xaccesspolicies', '-n', 'agents', ...wide])
    try {
      const report = await reportOf(READER, 'conflicts', '-A')
      const unnamed = listAt(report, 'findings').filter((one) => stringAt(one, 'code') === 'KLM604')
      const names = unnamed.map((one) => stringAt(one, 'subject', 'name'))
      expect(names).toContain('blue')
      expect(names).not.toContain('chat')
    } finally {
      await cp.apply(kept.flatMap((one) => (one === undefined ? [] : [asNew(one)])))
    }
  })

  test('an object that was written in the old version has lost its rules, and that is said', async () => {
    const { stdout } = await kleym(READER, 'policies', 'agents/old-version')
    expect(stdout).toMatch(/no action/i)
  })

  test('the same policies live and offline give the same answers', async () => {
    const folder = await dumped()
    for (const command of [['policies', '-A'], ...COMMANDS, ...COMMANDS_OF_NAMESPACES]) {
      const live = await reportOf(READER, ...command)
      // To diff, files alone are new; a dump is the state before.
      const flag = command[0] === 'diff' ? '--live' : '-f'
      const offline = await reportOf(READER, ...command, '--offline', '-R', flag, folder)
      expect(policyPart(live)).toEqual(policyPart(offline))
    }
    const { policies } = await reportOf(READER, 'policies', '-A')
    expect(policies).toHaveLength(16)
  })

  test('one binding takes at most twenty requests, policies of all namespaces included', async () => {
    const since = await cp.auditMark()
    const run = await kleym(READER, 'explain', 'chat')
    expect(run.stdout).toMatch(/agents\/tools rule chat/)
    const events = await cp.audit({ since, user: READER })
    expect(events.length).toBeGreaterThan(10)
    expect(events.length).toBeLessThanOrEqual(20)
    expect(events.filter(({ resource }) => resource === 'xaccesspolicies')).toHaveLength(1)
    // What the server says that it does not serve is not asked for.
    expect(events.filter(({ status }) => status === 404)).toEqual([])
  })

  test('conflicts of one namespace reads pods of others where a policy there may name them', async () => {
    expect(new Set(await podListsOf('agents'))).toEqual(new Set([podsIn('agents'), '/api/v1/pods']))
    expect(new Set(await podListsOf('team-b'))).toEqual(new Set([podsIn('team-b')]))
  })

  test('a rename of what a policy names is caught before it is applied', async () => {
    const change = join(import.meta.dirname, '../../examples/changes/rename-objective')
    const since = await cp.auditMark()
    const run = await kleym(READER, 'diff', '-f', change)
    expect(run.stdout).toMatch(/agents\/tools rule chat/)
    expect(run.stdout).toMatch(/lost/)
    expect(run.code).toBe(1)
    const verbs = new Set((await cp.audit({ since, user: READER })).map(({ verb }) => verb))
    expect([...verbs].toSorted()).toEqual(['get', 'list'])
  })

  test('a user who may not read them is told so by the answers that need them', async () => {
    for (const command of [['policies', '-A'], ...COMMANDS]) {
      const { stdout, stderr, code } = await kleym(BLIND, ...command)
      expect(`${code} ${stdout}`).toMatch(/^[14] /)
      expect(saidIn({ stdout, stderr })).toContain(`cannot list ${POLICIES}: forbidden`)
      expect(stderr).toMatch(
        /apiGroups: \["agentic\.networking\.x-k8s\.io"\], verbs: \[list\], resources: \[xaccesspolicies\]/,
      )
      // Unknown is not the same as none.
      expect(stdout).not.toMatch(/KLM604|no rule of any policy/)
    }
    // And by no other.
    for (const command of [['status'], ['who-selects', '-A', '--entries']]) {
      const { stdout, stderr } = await kleym(BLIND, ...command)
      expect(stdout + stderr).not.toContain(POLICIES)
    }
  })

  test('who may read those of one namespace sees them there, and hears that there may be more', async () => {
    const { stdout, stderr, code } = await kleym(AGENTS, 'policies', '-n', 'agents')
    expect(stdout).toMatch(/agents\/tools/)
    expect(saidIn({ stdout, stderr })).toContain(`cannot list ${POLICIES}: forbidden`)
    expect(code).toBe(4)
    const others = await kleym(AGENTS, 'explain', 'chat', '-n', 'team-a')
    expect(others.stdout).not.toMatch(/no rule of any policy/)
    expect(others.code).toBe(4)
  })
})

test('where the server gives them out in the old version alone, they are named and not interpreted', async () => {
  const [crd] = crds
  const versions = listAt(crd, 'spec', 'versions').map((one) => ({
    ...(isRecord(one) ? one : {}),
    served: stringAt(one, 'name') === 'v0alpha0',
  }))
  const spec = { ...(isRecord(crd?.['spec']) ? crd['spec'] : {}), versions }
  await installAndWait(cp.admin, { ...crd, spec })
  const run = await kleym(READER, 'policies', '-n', 'agents')
  expect(run.stdout).toMatch(/too old to interpret/)
  expect(run.stdout).not.toMatch(/team-a\/chat/)
  const codes = policyCodesIn(await reportOf(READER, 'conflicts', '-A'))
  expect([...codes]).toEqual(['KLM609'])
})

test('where there is none, that is said, and nothing of them elsewhere', async () => {
  for (const crd of crds) await installAndWait(cp.admin, crd)
  await cp.kubectl(['delete', 'xaccesspolicies', '--all', '-n', 'agents'])
  const run = await kleym(READER, 'policies', '-A')
  expect(run.stdout).toMatch(/no access polic/)
  expect(run.stdout).not.toMatch(/does not serve/)
  expect(run.code).toBe(0)
  expect(policyCodesIn(await reportOf(READER, 'conflicts', '-A')).size).toBe(0)
})

test('where the kind goes away again, every other answer is the same to the byte as before it came', async () => {
  for (const crd of crds) await removeAndWait(cp.admin, crd)
  expect(await answers()).toEqual(withoutKind)
})

function policyId(name: string): ObjectId {
  return { apiVersion: `${GROUP}/v1alpha1`, kind: 'XAccessPolicy', namespace: 'agents', name }
}

/** The object without what the server gives. */
function asNew({ apiVersion, kind, metadata, spec }: JsonRecord): JsonRecord {
  const meta = readMeta({ metadata })
  return { apiVersion, kind, metadata: { name: meta.name, namespace: meta.namespace }, spec }
}

/** Another generation than the one that its status is about. */
async function makeStale(name: string): Promise<void> {
  const id = policyId(name)
  const { metadata, spec, status } = (await cp.admin.get(id)) ?? {}
  const generation = dig(metadata, 'generation')
  const ancestors = listAt(status, 'ancestors').map((one) => ({
    ...(isRecord(one) ? one : {}),
    conditions: listAt(one, 'conditions').map((condition) => ({
      ...(isRecord(condition) ? condition : {}),
      observedGeneration: generation,
    })),
  }))
  await cp.admin.patch(id, { status: { ancestors } }, 'status')
  const [rule] = listAt(spec, 'rules')
  await cp.admin.patch(id, { spec: { rules: [rule, { ...(isRecord(rule) ? rule : {}), name: 'added' }] } })
}

/** The folder of a dump of everything that kleym reads. */
async function dumped(): Promise<string> {
  const folder = join(cp.folder, 'dump')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const kinds of [
    'inferenceidentitybindings.kleym.sonda.red',
    'inferencepools.inference.networking.k8s.io,inferencepools.inference.networking.x-k8s.io',
    'inferenceobjectives.llm-d.ai,inferenceobjectives.inference.networking.x-k8s.io',
    'clusterspiffeids,clusterstaticentries,namespaces,nodes,xaccesspolicies',
    'pods,deployments,statefulsets,daemonsets,jobs,cronjobs,configmaps,endpoints',
  ]) {
    const { stdout, stderr, status } = await cp.kubectl(['get', '-A', '-o', 'yaml', kinds])
    expect(stderr.replaceAll(/^Warning: .*\n/gm, '')).toBe('')
    expect(status).toBe(0)
    writeFileSync(join(folder, `${kinds.split(/[.,]/)[0] ?? ''}.yaml`), stdout)
  }
  return folder
}

/** The paths by which `conflicts` of a namespace asks for pods. */
async function podListsOf(space: string): Promise<readonly string[]> {
  const since = await cp.auditMark()
  await kleym(READER, 'conflicts', '-n', space)
  const events = await cp.audit({ since, user: READER })
  return events.filter(({ resource }) => resource === 'pods').map(({ uri }) => uri.split('?')[0] ?? '')
}

function podsIn(space: string): string {
  return `/api/v1/namespaces/${space}/pods`
}

/** What a report says about policies. */
function policyPart(report: JsonRecord): unknown {
  const { policies, affected, findings } = report
  const about = listAt({ findings }, 'findings').filter((one) => stringAt(one, 'code')?.startsWith('KLM6'))
  return { policies, affected, about }
}

/** All that is said, without the breaks of lines: a cause stands in the answer or on stderr. */
function saidIn({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  return `${stdout} ${stderr}`.replaceAll(/\s+/g, ' ')
}
