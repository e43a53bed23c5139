// The plugin on a real cluster with the estate of `examples/` in it and the operator at work: as a user who may read
// everything, as one team, and as a user without rights (docs/cluster.md). The answers themselves are tested on files.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dig, isRecord, listAt, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { requireValidReport } from '../../plugin/test/support/report-check.ts'
import { built } from '../e2e/plugin.ts'
import type { ControlPlane } from './control-plane.ts'
import { writeKubeconfig } from './credentials.ts'
import { applyEstate } from './examples.ts'
import { kubectlKleym, type PluginRun } from './kubectl-kleym.ts'
import { bindingId, conditionOf, outputId, outputsOf, untilReason } from './objects.ts'
import { startLeading, startOperatorPlane, stopAll, whileDown, type RunningOperator } from './operator.ts'
import { certificatePath } from '@kleym/testing/faults/certificates.ts'
import { until } from '@kleym/testing/wait.ts'

const RBAC = 'rbac.authorization.k8s.io'
/** May read everything that kleym asks for, and nothing else. */
const READER = 'reader'
/** May read team-a: as many a member of a team may. */
const TEAM = 'team-a-viewer'
const NOBODY = 'nobody'
/** The flags of the estate's operator. */
const ESTATE_FLAGS = ['--clusterspiffeid-class-name=spire-mgmt-spire', '--variant-label-key=llm-d.ai/role']

let cp: ControlPlane
let operator: RunningOperator
/** Kubeconfigs whose context is in team-a, by user. */
let configs: Readonly<Record<string, string>>

beforeAll(async () => {
  await built()
  cp = await startOperatorPlane({ users: [READER, TEAM, NOBODY].map((name) => ({ name })) })
  await applyEstate(cp)
  await cp.apply(access())
  configs = Object.fromEntries(['admin', READER, TEAM, NOBODY].map((user) => [user, kubeconfigOf(user)]))
  operator = await startLeading(cp, { flags: ESTATE_FLAGS })
  await untilSettled()
})
afterAll(() => stopAll(operator, cp))

/** A rule that lets a user read. */
function rule(apiGroups: readonly string[], resources: readonly string[]): JsonRecord {
  return { apiGroups, resources, verbs: ['get', 'list'] }
}

function access(): readonly JsonRecord[] {
  const rules = [
    rule(['kleym.sonda.red'], ['inferenceidentitybindings']),
    rule(
      ['inference.networking.k8s.io', 'inference.networking.x-k8s.io', 'llm-d.ai'],
      ['inferencepools', 'inferenceobjectives'],
    ),
    rule([''], ['pods', 'namespaces']),
    rule(['apps', 'batch'], ['deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs']),
  ]
  const cluster = [
    rule(['spire.spiffe.io'], ['clusterspiffeids', 'clusterstaticentries']),
    rule([''], ['nodes', 'endpoints', 'configmaps']),
  ]
  const bind = (kind: 'Role' | 'ClusterRole', name: string, namespace?: string): JsonRecord => ({
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: RBAC, kind, name },
    subjects: [{ apiGroup: RBAC, kind: 'User', name }],
  })
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: READER },
      rules: [...rules, ...cluster],
    },
    bind('ClusterRole', READER),
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name: TEAM, namespace: 'team-a' }, rules },
    bind('Role', TEAM, 'team-a'),
  ]
}

function kubeconfigOf(user: string): string {
  const path = join(cp.folder, `plugin-${user}`)
  writeKubeconfig(path, { server: cp.server, ca: cp.ca, user, token: cp.tokenOf(user), namespace: 'team-a' })
  return path
}

/** Every binding has a status about itself as it is, and the queue is empty for as long as a resync of them takes. */
async function untilSettled(): Promise<void> {
  await until(async () => {
    const bindings = await cp.admin.list({
      apiVersion: 'kleym.sonda.red/v1alpha1',
      kind: 'InferenceIdentityBinding',
    })
    return bindings.every(
      (one) => dig(one, 'status', 'observedGeneration') === dig(one, 'metadata', 'generation'),
    )
  }, 'the operator to have looked at every binding')
}

function kleym(user: string, ...args: readonly string[]): Promise<PluginRun> {
  return kubectlKleym(cp, args, { kubeconfig: configs[user] ?? '' })
}

async function reportOf(user: string, ...args: readonly string[]): Promise<JsonRecord> {
  const { stdout, stderr } = await kleym(user, ...args, '-o', 'json')
  const report: unknown = stdout === '' ? undefined : JSON.parse(stdout)
  requireValidReport(stdout)
  if (isRecord(report)) return report
  throw new Error(`kubectl kleym ${args.join(' ')} printed no report: ${stderr}`)
}

const codesIn = (report: JsonRecord): readonly string[] =>
  listAt(report, 'findings').map((one) => stringAt(one, 'code') ?? '')

describe('a user who may read everything', () => {
  test.for<readonly [command: string, code: number, says: RegExp]>([
    ['explain chat', 0, /^! team-a\/chat is ready: 3 containers are entitled to$/m],
    ['explain playground/phi', 1, /^✗ playground\/phi is refused/],
    ['explain -A -o name', 1, /^inferenceidentitybinding\.kleym\.sonda\.red\/team-a\/chat$/m],
    ['who-selects deployment/llama', 0, /spiffe:\/\/example\.org\/ns\/team-a\/objective\/chat/],
    ['who-selects -n team-a --entries -o yaml', 0, /spiffe_id: /],
    ['conflicts -A', 1, /in 43 bindings/],
    ['conflicts', 0, /^✓ nothing clashes in 3 bindings of 1 namespace|^.*warning/],
    ['diff', 0, /^✓ no container gains or loses an identity\n[^]*^✓ no ClusterSPIFFEID of kleym's changes/m],
  ])('%s', async ([command, code, says]) => {
    const run = await kleym(READER, ...command.split(' '))
    expect(run.stderr).not.toMatch(/^ +at |error:/m)
    expect(run.stdout).toMatch(says)
    expect(run.code).toBe(code)
  })

  test('one binding takes at most twenty requests, of which none but lists and one namespace', async () => {
    const since = await cp.auditMark()
    expect((await kleym(READER, 'explain', 'chat')).code).toBe(0)
    const events = await cp.audit({ since, user: READER })
    expect(events.length).toBeGreaterThan(10)
    expect(events.length).toBeLessThanOrEqual(20)
    expect(new Set(events.map(({ verb, resource }) => `${verb} ${resource ?? ''}`))).not.toContain(
      'list configmaps in all namespaces',
    )
    const configMaps = events.filter(({ resource }) => resource === 'configmaps')
    expect(configMaps.map(({ namespace }) => namespace)).toEqual(['spire-server'])
    // Nothing of other teams is read for one binding.
    const elsewhere = events.filter(
      ({ resource, namespace }) => resource === 'pods' && namespace !== 'team-a',
    )
    expect(elsewhere).toEqual([])
  })

  test('the same estate live and offline gives the same findings', async () => {
    const folder = join(cp.folder, 'dump')
    mkdirSync(folder)
    for (const kinds of [
      'inferenceidentitybindings.kleym.sonda.red',
      'inferencepools.inference.networking.k8s.io,inferencepools.inference.networking.x-k8s.io',
      'inferenceobjectives.llm-d.ai,inferenceobjectives.inference.networking.x-k8s.io',
      'clusterspiffeids,clusterstaticentries,namespaces,nodes',
      'pods,deployments,statefulsets,daemonsets,jobs,cronjobs,configmaps,endpoints',
    ]) {
      const { stdout, stderr, status } = await cp.kubectl(['get', '-A', '-o', 'yaml', kinds])
      expect(stderr.replaceAll(/^Warning: .*\n/gm, '')).toBe('')
      expect(status).toBe(0)
      writeFileSync(join(folder, `${kinds.split('.')[0] ?? ''}.yaml`), stdout)
    }
    for (const command of [
      ['explain', '-A'],
      ['conflicts', '-A'],
      ['who-selects', '-A'],
    ]) {
      const live = await reportOf(READER, ...command)
      const offline = await reportOf(READER, ...command, '--offline', '-R', '-f', folder)
      expect(listAt(live, 'findings').length).toBeGreaterThan(command[0] === 'who-selects' ? 0 : 10)
      expect(withoutFiles(live)).toEqual(withoutFiles(offline))
    }
  })

  test('a registration that gives the identity to pods of another namespace is found from one namespace', async () => {
    const thief = {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ClusterSPIFFEID',
      metadata: { name: 'thief' },
      spec: {
        className: 'spire-mgmt-spire',
        spiffeIDTemplate: 'spiffe://example.org/ns/team-a/objective/{{ index .PodMeta.Labels "steal" }}',
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'team-b' } },
      },
    }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'thief', namespace: 'team-b', labels: { steal: 'chat' } },
      spec: { nodeName: 'gpu-1', containers: [{ name: 'shell', image: 'shell' }] },
    }
    await cp.apply([thief, pod])
    try {
      const report = await reportOf(READER, 'explain', 'chat')
      expect(codesIn(report)).toContain('KLM308')
      expect(report['exitCode']).toBe(1)
      // A user who may not look there is told that something may be hidden.
      const team = await kleym(TEAM, 'explain', 'chat')
      expect(team.code).toBe(4)
    } finally {
      await cp.admin.delete({
        apiVersion: 'spire.spiffe.io/v1alpha1',
        kind: 'ClusterSPIFFEID',
        name: 'thief',
      })
      await cp.admin.delete({ apiVersion: 'v1', kind: 'Pod', namespace: 'team-b', name: 'thief' })
    }
  })
})

/** The path of a file with this text. */
function file(text: string): string {
  const path = join(cp.folder, 'change.yaml')
  writeFileSync(path, text)
  return path
}

describe('files over the cluster', () => {
  test('a file shadows the live object, and the answer is about the cluster after applying it', async () => {
    const change = file(
      JSON.stringify({
        apiVersion: 'kleym.sonda.red/v1alpha1',
        kind: 'InferenceIdentityBinding',
        metadata: { name: 'chat' },
        spec: {
          mode: 'PerObjective',
          poolRef: { name: 'llama' },
          objectiveRef: { name: 'chatt' },
          serviceAccountName: 'runner',
          containerName: 'vllm',
        },
      }),
    )
    const run = await kleym(READER, 'diff', '-f', change)
    expect(run.stdout).toMatch(
      /^--- live +ClusterSPIFFEID\/kleym-team-a-chat-objective-\w+\n\+\+\+ after +\(deleted\)/m,
    )
    expect(run.stdout).toContain('team-a/chat')
    expect(run.stdout).toContain('TargetObjectiveNotFound')
    expect(run.code).toBe(1)
    const explained = await kleym(READER, 'explain', 'chat', '-f', change)
    expect(explained.stdout).toMatch(/^✗ team-a\/chat is refused/)
    expect((await kleym(READER, 'explain', 'chat')).stdout).toMatch(/^[✓!] team-a\/chat is ready/)
  })

  test('a pull request cannot bring its own verdict', async () => {
    const live = await cp.admin.get(bindingId('playground', 'phi'))
    const forged = {
      ...live,
      status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Reconciled' }] },
    }
    const run = await kleym(READER, 'explain', 'playground/phi', '-f', file(JSON.stringify(forged)))
    expect(run.stdout).toMatch(/^✗ playground\/phi is refused/)
    expect(run.code).toBe(1)
  })

  test("a change of the operator's own class is worked out, and one that stops it is named", async () => {
    const [deployment] = await cp.admin.list({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'kleym-system',
    })
    const text = JSON.stringify({ ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' })
    const other = text.replace('class-name=spire-mgmt-spire', 'class-name=other')
    expect(other).not.toBe(text)
    const reclassed = await reportOf(READER, 'diff', '-A', '-f', file(other))
    expect(codesIn(reclassed)).toContain('KLM401')
    expect(codesIn(reclassed)).not.toContain('KLM520')
    const stopped = await kleym(
      READER,
      'diff',
      '-A',
      '-f',
      file(text.replace(/"replicas":\d+/, '"replicas":0')),
    )
    expect(stopped.stdout).toMatch(/^✗ the operator is down: its Deployment asks for 0 replicas;/)
    expect(stopped.code).toBe(1)
    const gone = await kleym(READER, 'diff', '--without', 'deployment/kleym-system/kleym-operator')
    expect(gone.stdout).toMatch(/^✗ the operator is down: its Deployment is not there any more;/)
  })

  test('what is left out with --without is as if it were deleted', async () => {
    const run = await kleym(READER, 'diff', '--without', 'iib/chat')
    expect(run.stdout).toMatch(/\+\+\+ after +\(deleted\)/)
    expect(run.code).toBe(1)
    const missing = await kleym(READER, 'diff', '--without', 'iib/no-such')
    expect(missing.stderr).toMatch(/^error: the object to leave out is not there/)
    expect(missing.code).toBe(3)
    const unread = await kleym(NOBODY, 'diff', '--without', 'iib/chat')
    expect(unread.stderr).toMatch(/^error: cannot tell whether the object to leave out is there/)
    expect(unread.stderr).toContain('cannot list InferenceIdentityBinding')
    expect(unread.code).toBe(4)
  })
})

describe('a relationship with another trust domain', () => {
  const partner = {
    apiVersion: 'spire.spiffe.io/v1alpha1',
    kind: 'ClusterFederatedTrustDomain',
    metadata: { name: 'partner' },
    spec: {
      trustDomain: 'partner.example',
      bundleEndpointURL: 'https://partner.example/bundle',
      bundleEndpointProfile: { type: 'https_web' },
    },
  }
  const path = (): string => file(JSON.stringify(partner))

  test('is not known to be new for a user who may not list them', async () => {
    const run = await kleym(READER, 'diff', '-f', path())
    expect(run.stderr).toContain('resources: [clusterfederatedtrustdomains]')
    expect(run.stdout).not.toContain('✓')
    expect(run.code).toBe(4)
  })

  test('is added, edited, removed, or as it is', async () => {
    const added = await kleym('admin', 'diff', '-f', path())
    expect(added.stdout).toContain('· adds ClusterFederatedTrustDomain/partner\n')
    await cp.apply([partner])
    const same = await kleym('admin', 'diff', '-f', path())
    const { spec } = partner
    const edit = { ...partner, spec: { ...spec, bundleEndpointURL: 'https://partner.example/other' } }
    const edited = await kleym('admin', 'diff', '-f', file(JSON.stringify(edit)))
    expect(edited.stdout).toContain('· edits ClusterFederatedTrustDomain/partner: .spec.bundleEndpointURL\n')
    const removed = await kleym('admin', 'diff', '--without', 'clusterfederatedtrustdomain/partner')
    expect(removed.stdout).toContain('· removes ClusterFederatedTrustDomain/partner\n')
    expect([added, same, edited, removed].map(({ code }) => code)).toEqual([1, 0, 1, 1])
  })
})

describe('identity tests', () => {
  const TESTS = join(import.meta.dirname, '../../examples/identity-tests/estate.yaml')

  test('hold on the cluster, and say so as a user who may read everything', async () => {
    const run = await kleym(READER, 'test', TESTS)
    expect(run.stdout).toContain('✓ 8 assertions passed')
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('fail for files over the cluster that break them', async () => {
    const change = join(import.meta.dirname, '../../examples/changes/steal-identity')
    const run = await kleym(READER, 'test', TESTS, '-f', change)
    expect(run.stdout).toContain('1 of 8 assertions failed')
    expect(run.stdout).toMatch(/team-b\/llama-.*:vllm holds/)
    expect(run.code).toBe(1)
    const diff = await kleym(READER, 'diff', '--tests', TESTS, '-f', change)
    expect(diff.stdout).toContain('the change breaks 1 assertion of identity tests')
  })

  test.for([TEAM, NOBODY])('as %s nothing that may not be read passes', async (user) => {
    const run = await kleym(user, 'test', TESTS)
    expect(run.stdout).not.toMatch(/✓|[1-9]\d* passed/)
    expect(run.code).toBe(4)
  })

  test('what is generated from the cluster holds there', async () => {
    const generated = await kleym(READER, 'test', '--generate')
    const path = join(cp.folder, 'generated.yaml')
    writeFileSync(path, generated.stdout)
    const run = await kleym(READER, 'test', path)
    expect(run.stdout).toMatch(/^✓ \d+ assertions passed$/m)
  })
})

describe('one team', () => {
  test('sees its own bindings, and hears which read and which rule would make the answer complete', async () => {
    const run = await kleym(TEAM, 'explain', 'chat')
    expect(run.stdout).toMatch(/^! incomplete: not everything is known/m)
    // Whose outputs are there is not known: nothing has the good mark, and the derivation is there all the same.
    expect(run.stdout).not.toContain('✓')
    expect(run.stdout).toMatch(/^ +! selector +app=llama$/m)
    expect(run.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'cannot list ClusterSPIFFEID.spire.spiffe.io: forbidden',
    )
    expect(run.stderr).toMatch(
      /a ClusterRole would need these rules:\n(?: {2}- .*\n)* {2}- \{apiGroups: \["spire\.spiffe\.io"\], verbs: \[list\], resources: \[clusterspiffeids, clusterstaticentries\]\}/,
    )
    expect(run.code).toBe(4)
  })

  test('does not see other namespaces', async () => {
    const run = await kleym(TEAM, 'explain', '-n', 'team-b')
    expect(run.stdout).toContain('which bindings exist is unknown')
    expect(run.stdout).not.toContain('are 0')
    expect(run.code).toBe(4)
  })
})

/** What a reader sees who trusts one CA. */
function askTrusting(ca: string): Promise<PluginRun> {
  return kleym(READER, 'explain', 'chat', '--certificate-authority', ca)
}

test('a server whose certificate is not trusted: the flag that trusts it, and with it the answer', async () => {
  const stranger = await askTrusting(certificatePath('ca.crt'))
  expect(stranger.stdout).toBe('')
  expect(stranger.stderr).toMatch(
    /^error: cannot reach the cluster .*\n {2}why: .*certificate is not trusted.*--certificate-authority FILE/,
  )
  expect(stranger.code).toBe(4)
  const own = join(cp.folder, 'own-ca.crt')
  writeFileSync(own, cp.ca)
  expect((await askTrusting(own)).stdout).toMatch(/^. team-a\/chat is ready/)
})

describe('a user who may read nothing', () => {
  test.for([
    ['explain', '-A'],
    ['explain', 'chat'],
    ['conflicts', '-A'],
    ['who-selects', 'pod/llama-0'],
    ['who-selects', '-A'],
    ['diff', '--trust-domain', 'example.org'],
  ])('%s %s', async (args) => {
    const run = await kleym(NOBODY, ...args)
    expect(run.code).toBe(4)
    expect(run.stderr).toMatch(/cannot list \S+.*: forbidden/)
    expect(run.stderr).toMatch(/would need these rules:/)
    // The rule is not lost among reads: a kind that may not be read is named once in the answer, and once in the rule.
    const named = [...`${run.stdout}${run.stderr}`.matchAll(/\bClusterSPIFFEID\.spire\.spiffe\.io\b/g)]
    expect(named.length).toBeLessThanOrEqual(1)
    expect(run.stderr.split('\n').length).toBeLessThan(25)
    expect(run.stdout + run.stderr).not.toMatch(/^ +at /m)
    // What is not known is not healthy.
    expect(run.stdout).not.toMatch(/^✓/m)
  })
})

describe('what the operator says and what is', () => {
  test('a status that lags, an output that was changed, and an operator that does not run', async () => {
    const [output] = await outputsOf(cp, 'team-a', 'embed')
    const name = stringAt(output, 'metadata', 'name') ?? ''
    operator = await whileDown(
      cp,
      operator,
      async () => {
        await cp.kubectl(['-n', 'team-a', 'patch', 'iib', 'sql-lora', '--type=merge', '-p', LABELLED])
        const patched = await cp.kubectl(['patch', 'clusterspiffeid', name, '--type=merge', '-p', ADMIN])
        expect(patched.stderr).toBe('')
        const embed = await reportOf(READER, 'explain', 'embed')
        expect(codesIn(embed)).toEqual(expect.arrayContaining(['KLM542', 'KLM543']))
        const due = await kleym(READER, 'diff')
        expect(due.stdout).toMatch(/^-\s+admin: true$/m)
        expect(due.code).toBe(1)
      },
      { flags: ESTATE_FLAGS },
    )
    await until(
      async () =>
        (await cp.admin.get(outputId(name))) !== undefined &&
        dig(await cp.admin.get(outputId(name)), 'spec', 'admin') !== true,
      'the operator to undo the edit',
    )
    await untilReason(cp, 'team-a', 'embed', 'Reconciled')
    // Here nothing mounts volumes into pods: they have no way to the Workload API. And the default identity gives way.
    expect(codesIn(await reportOf(READER, 'explain', 'embed'))).toEqual(['KLM430', 'KLM418'])
  })

  test('an edited binding whose status is about the generation before', async () => {
    operator = await whileDown(
      cp,
      operator,
      async () => {
        await cp.kubectl(['-n', 'lab', 'patch', 'iib', 'moving', '--type=merge', '-p', OTHER_ACCOUNT])
        expect(codesIn(await reportOf(READER, 'explain', 'lab/moving'))).toContain('KLM540')
      },
      { flags: ESTATE_FLAGS },
    )
    await until(
      async () =>
        conditionOf(await cp.admin.get(bindingId('lab', 'moving')), 'Ready')?.['observedGeneration'] ===
        dig(await cp.admin.get(bindingId('lab', 'moving')), 'metadata', 'generation'),
      'the operator to see the edit',
    )
    expect(codesIn(await reportOf(READER, 'explain', 'lab/moving'))).not.toContain('KLM540')
  })
})

const LABELLED = JSON.stringify({ metadata: { labels: { touched: 'yes' } } })
const ADMIN = JSON.stringify({ spec: { admin: true } })
const OTHER_ACCOUNT = JSON.stringify({ spec: { serviceAccountName: 'another' } })

describe('status', () => {
  test.for<readonly [user: string, code: number, says: readonly RegExp[]]>([
    [
      READER,
      // The Deployment of the estate has no pods here.
      1,
      [
        /^✓ InferenceIdentityBinding +kleym\.sonda\.red\/v1alpha1$/m,
        /^✗ operator +kleym-system\/kleym-operator, 0 of 2 replicas/m,
        /^✓ trust domain +example\.org, says Deployment/m,
        /^✓ SCM +handles kleym's class/m,
        /^! bindings +43: \d+ ready, /m,
        /^! oldest stuck +\S+\/\S+, \w+ since\s+\d{4}-/m,
        /KLM543/,
      ],
    ],
    [TEAM, 4, [/^! operator +not known/m, /^! bindings +not known/m]],
    [NOBODY, 4, [/^! operator +not known/m, /^! SCM +not known/m, /^! bindings +not known/m]],
  ])('as %s', async ([user, code, says]) => {
    const run = await kleym(user, 'status', '--request-timeout=30s')
    for (const text of says) expect(run.stdout).toMatch(text)
    expect(run.stderr).not.toMatch(/what depends on it says so: cannot list .*Deployment/)
    const said = `${run.stdout} ${run.stderr}`.replaceAll(/\s+/g, ' ')
    expect(/cannot list [^:]*Deployment\.apps[^:]*: forbidden/.test(said)).toBe(user !== READER)
    expect(run.code).toBe(code)
  })

  test('limited to a namespace, counts its bindings', async () => {
    const report = await reportOf(READER, 'status', '-n', 'team-a')
    expect(report['conditions']).toEqual([{ ready: 'True', reason: 'Reconciled', count: 3 }])
    // The outputs of other namespaces are not orphans for that.
    expect(codesIn(report)).not.toContain('KLM521')
    expect(listAt(report, 'operators')).toHaveLength(1)
  })

  test('two operators in one cluster are an error', async () => {
    const [first] = await cp.admin.list({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'kleym-system',
    })
    const spec = first?.['spec']
    const metadata = { name: 'second', namespace: 'team-b', labels: { 'app.kubernetes.io/name': 'kleym' } }
    const id = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'team-b', name: 'second' }
    await cp.apply([{ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }])
    try {
      const report = await reportOf(READER, 'status')
      expect(codesIn(report)).toContain('KLM545')
      expect(report['exitCode']).toBe(1)
    } finally {
      await cp.admin.delete(id)
    }
  })
})

describe('in a terminal, a pipe and CI', () => {
  const ESCAPE = '\u001B['

  test.for<
    readonly [name: string, args: readonly string[], env: Readonly<Record<string, string>>, colours: boolean]
  >([
    ['a pipe has no colours', [], {}, false],
    ['asked for, it has', ['--color=always'], {}, true],
    ['asked for, it has in spite of NO_COLOR', ['--color=always'], { NO_COLOR: '1' }, true],
  ])('%s', async ([, args, env, colours]) => {
    const run = await kubectlKleym(cp, ['explain', 'chat', ...args], {
      kubeconfig: configs[READER] ?? '',
      env,
    })
    expect(run.stdout.includes(ESCAPE)).toBe(colours)
    expect(run.code).toBe(0)
  })

  test.for([50, 80, 160])('no line of an answer is wider than %i columns but for names', async (columns) => {
    const run = await kubectlKleym(cp, ['explain', '-A'], {
      kubeconfig: configs[READER] ?? '',
      env: { COLUMNS: String(columns) },
    })
    const wide = run.stdout.split('\n').filter((text) => text.length > columns && !/\S{40,}/.test(text))
    expect(wide).toEqual([])
  })

  test.for(['sarif', 'junit', 'github', 'yaml', 'name'])(
    '-o %s has the exit code of text',
    async (format) => {
      const text = await kleym(READER, 'conflicts', '-A')
      const other = await kleym(READER, 'conflicts', '-A', '-o', format)
      expect(other.code).toBe(text.code)
      expect(other.stdout).not.toBe('')
    },
  )
})

describe('what goes wrong on the way', () => {
  test.for<readonly [name: string, args: readonly string[], code: number, says: RegExp]>([
    ['no such context', ['--context', 'no-such'], 4, /^error: there is no context "no-such"/],
    ['no server there', ['--server', 'https://127.0.0.1:1'], 4, /^error: cannot reach the cluster/],
    [
      'a token that the API server does not know',
      ['--token', 'wrong'],
      4,
      /^error: the cluster does not know who we are/,
    ],
    ['groups without a user', ['--as-group', 'x'], 2, /^error: cannot tell whom to impersonate/],
    ['a timeout that is none', ['--request-timeout', 'soon'], 2, /^error: the timeout is not valid/],
    [
      'another name in the certificate',
      ['--tls-server-name', 'example.org'],
      4,
      /^error: cannot reach the cluster/,
    ],
    ['no such kubeconfig', ['--kubeconfig', '/no/such'], 4, /^error: cannot read the kubeconfig/],
    ['a binding that is not there', ['-n', 'team-a', 'chta'], 3, /did you mean team-a\/chat/],
    ['--live beside a cluster', ['--live', '.'], 2, /^error: --live cannot be used with a cluster/],
  ])('%s', async ([, args, code, says]) => {
    const run = await kleym('admin', 'explain', ...args)
    expect(run.stderr).toMatch(says)
    expect(run.stderr).toMatch(/^ {2}why: {2}\S/m)
    expect(run.stderr).toMatch(/^ {2}fix: {2}\S/m)
    expect(run.stdout).toBe('')
    expect(run.code).toBe(code)
  })

  test('an API server that does not answer in time is a timeout', async () => {
    await cp.pauseApiServer()
    try {
      const run = await kleym('admin', 'explain', '--request-timeout=1s')
      expect(run.stderr).toMatch(/^error: cannot reach the cluster/)
      expect(run.code).toBe(124)
    } finally {
      await cp.resumeApiServer()
    }
  })

  test('Ctrl-C ends it at once', async () => {
    await cp.pauseApiServer()
    try {
      const run = await kubectlKleym(cp, ['explain'], {
        kubeconfig: configs['admin'] ?? '',
        started: (child) => void setImmediate(() => child.kill('SIGINT')),
      })
      expect(run.signal === 'SIGINT' || run.code === 130).toBe(true)
    } finally {
      await cp.resumeApiServer()
    }
  })

  test('impersonation is who is asked about, groups and all', async () => {
    const since = await cp.auditMark()
    const run = await kleym('admin', 'explain', 'chat', '--as', NOBODY, '--as-group', 'system:masters')
    expect(run.code).toBe(0)
    const events = await cp.audit({ since, user: 'admin' })
    expect(events.length).toBeGreaterThan(0)
  })
})

/** What differs between a cluster and files: places in files, and where settings were found. */
function withoutFiles({ findings }: JsonRecord): unknown {
  return JSON.parse(
    JSON.stringify(findings).replaceAll(
      /ConfigMap spire-server\/spire-controller-manager[^"]*/g,
      'ConfigMap',
    ),
  )
}
