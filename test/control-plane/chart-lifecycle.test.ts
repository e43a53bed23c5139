// The life of a release, with the real Helm against a real API server and its controllers, by the commands of the pages:
// install, helm test, upgrade from a lower version, rollback, a second release, uninstall, and what goes wrong there.
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import { WRITE_VERBS } from './audit.ts'
import { DROPPED, NEW_COLUMN, OLDER_VERSION, writeOlderChart } from './chart-older.ts'
import { ended } from '@kleym/testing/child-process.ts'
import { containerStart, startDeployed, TOKEN_MOUNT, type DeployedOperator } from './chart-operator.ts'
import { commandsIn, shellOn, type Shell } from './chart-shell.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { DEFAULT_CONTROLLERS, startControlPlane, type ControlPlane } from './control-plane.ts'
import { POOL_CRDS } from './crds.ts'
import { CHART, helmOn, LEAST, RELEASE, RELEASE_NAMESPACE, type Helm } from './helm.ts'
import { foreign, untilBindingGone } from './in-force.ts'
import type { KubectlResult } from './kubectl.ts'
import {
  bindingId,
  conditionOf,
  estate,
  member,
  outputId,
  outputs,
  outputsOf,
  untilReason,
} from './objects.ts'
import { freePorts } from './ports.ts'
import type { ObjectId } from './rest.ts'
import { until } from '@kleym/testing/wait.ts'
import { step } from '@kleym/testing/step.ts'

const BINDINGS_CRD = 'inferenceidentitybindings.kleym.sonda.red'
const CLASS = 'spire-mgmt-spire'
const ACCOUNT = `system:serviceaccount:${RELEASE_NAMESPACE}:kleym-operator`
const DEPLOYMENT: ObjectId = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'kleym-operator',
  namespace: RELEASE_NAMESPACE,
}
const INSTALL = commandsIn('install.md')
const UPGRADE = commandsIn('upgrade.md')
const UNINSTALL = commandsIn('uninstall.md')

let cp: ControlPlane
let helm: Helm
let shell: Shell
let operator: DeployedOperator
let older = ''
let ports = ''
beforeAll(async () => {
  cp = await startControlPlane({
    without: [BINDINGS_CRD],
    controllers: [...DEFAULT_CONTROLLERS, 'deployment-controller', 'replicaset-controller'],
  })
  ;[helm, shell] = await Promise.all([helmOn(cp), shellOn(cp)])
  older = writeOlderChart(cp.folder)
  const [probes = 0, metrics = 0] = await freePorts(2)
  ports = `--set probes.port=${probes} --set metrics.port=${metrics}`
  // What the SPIRE hardened chart brings.
  const { spec, ...object } = foreign('spire-mgmt-spire-default')
  await cp.apply([{ ...object, spec: { ...Object(spec), className: CLASS } }])
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

/** Runs commands that must succeed; what they print. */
async function works(commands: string | undefined): Promise<string> {
  if (commands === undefined) throw new Error('the page has no such commands')
  const { status, stdout, stderr } = await shell(commands)
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return stdout
}

async function startOperator(): Promise<void> {
  operator = await startDeployed(cp, RELEASE_NAMESPACE)
  await operator.leads()
}

/**
 * A namespace with a settled binding `chat`. No SCM runs here, and after a minute the operator would write that nothing handles
 * the output, in the midst of whatever the test does: what an SCM would write on the output comes first.
 */
async function settle(space: string, spec: JsonRecord = {}): Promise<void> {
  await cp.apply([...estate(space), ...member(space, 'chat', spec)])
  const ready = await untilReason(cp, space, 'chat', 'Reconciled')
  const output = outputId(stringAt(ready, 'status', 'clusterSPIFFEID', 'name') ?? '')
  const stats = { namespacesSelected: 1, podsSelected: 1, entriesToSet: 1 }
  await cp.admin.patch(output, { status: { stats } }, 'status')
  await until(async () => {
    const found = await cp.admin.get(bindingId(space, 'chat'))
    return stringAt(conditionOf(found, 'InForce'), 'reason') === 'Registered'
  }, `InForce of ${space}/chat to be told`)
}

async function columns(): Promise<readonly (string | undefined)[]> {
  const crd = await cp.admin.get({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: BINDINGS_CRD,
  })
  const [version] = listAt(crd, 'spec', 'versions')
  return listAt(version, 'additionalPrinterColumns').map((column) => stringAt(column, 'name'))
}

function configMap(name: string): Promise<JsonRecord | undefined> {
  return cp.admin.get({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: RELEASE_NAMESPACE })
}

/** UIDs and versions of all bindings and outputs: equal only where no client has written. */
async function versions(): Promise<readonly unknown[]> {
  const kind = { apiVersion: 'kleym.sonda.red/v1alpha1', kind: 'InferenceIdentityBinding' }
  // For a moment after its CRD has changed, the API server serves no binding.
  const bindings = await until(() => cp.admin.list(kind), 'bindings to be served')
  return [...bindings, ...(await outputs(cp))].map((object) => {
    const metadata = own(object, 'metadata')
    return ['name', 'uid', 'resourceVersion', 'generation'].map((key) => own(metadata, key))
  })
}

const TEST_POD: ObjectId = { apiVersion: 'v1', kind: 'Pod', name: 'kleym-test', namespace: RELEASE_NAMESPACE }

/** Runs the test pod as a kubelet would, and reports how it ended. */
async function runTestPod(): Promise<string> {
  const pod = await until(() => cp.admin.get(TEST_POD), 'the test pod')
  expect(JSON.stringify(pod)).toContain(`"mountPath":"${TOKEN_MOUNT}"`)
  const { command, args, env } = await containerStart(cp, own(pod, 'spec'), { namespace: RELEASE_NAMESPACE })
  const { status, stdout } = await ended(spawn(command, args, { env: { ...env } }))
  await cp.admin.patch(TEST_POD, { status: { phase: status === 0 ? 'Succeeded' : 'Failed' } }, 'status')
  return stdout
}

/** Another install, elsewhere. */
function second(...args: readonly string[]): Promise<KubectlResult> {
  return helm('install', 'again', CHART, '--namespace', 'elsewhere', '--create-namespace', ...LEAST, ...args)
}

/** Classes of an install that the notes warn of, and what they say. */
const WARNINGS: readonly {
  readonly what: string
  readonly className: string
  readonly says: readonly string[]
}[] = [
  {
    what: 'no class, where others have one',
    className: '',
    says: [
      `WARNING: no other ClusterSPIFFEID of this cluster has the class "(none)"; they have "${CLASS}".`,
      `--set className=${CLASS}`,
    ],
  },
  {
    what: 'a class that no ClusterSPIFFEID has',
    className: 'other',
    says: ['has the class "other"', `--set className=${CLASS}`],
  },
]

test('from the install to the uninstall, by the commands of the pages', async () => {
  // Install.
  await step('the commands of docs/install.md install it, and `helm test` passes', async () => {
    const [classes, install, check] = INSTALL
    expect(await works(classes)).toContain(CLASS)
    const notes = await works(
      install?.replace('charts/kleym', older).replace('helm install kleym', `helm install kleym ${ports}`),
    )
    expect(notes).toContain(`kleym ${OLDER_VERSION} is installed in namespace ${RELEASE_NAMESPACE}`)
    expect(notes).not.toContain('WARNING')
    expect(notes).toContain(`\n  helm test ${RELEASE} -n ${RELEASE_NAMESPACE}\n`)
    await startOperator()
    const [said, ran] = await Promise.all([works(check), runTestPod()])
    expect(said).toContain('Phase:          Succeeded')
    expect(
      ran
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(0, 2)),
    ).toEqual(Array(7).fill('ok'))
    expect(ran).toMatch(/^ok {6}leader {2}\S+ renews the Lease kleym-system\/kleym-operator$/m)
  })

  await step(
    '`helm test` fails where something is missing, and leaves the pod, which says what',
    async () => {
      for (const crd of POOL_CRDS) await cp.removeCrd(crd)
      const [, , check = ''] = INSTALL
      const [said, ran] = await Promise.all([shell(check), runTestPod()])
      for (const crd of POOL_CRDS) await cp.installCrd(crd)
      expect(said.status).not.toBe(0)
      expect(ran).toContain(
        'FAILED  kinds   the API server serves no InferencePool.inference.networking.k8s.io, nor ',
      )
      expect(ran.match(/FAILED/g)).toHaveLength(1)
      expect(await cp.admin.get(TEST_POD)).toBeDefined()
      await cp.admin.delete(TEST_POD)
    },
  )

  await step('the controllers make its pod, which Pod Security `restricted` lets in', async () => {
    const made = await until(async () => {
      const pods = await cp.admin.list({ apiVersion: 'v1', kind: 'Pod', namespace: RELEASE_NAMESPACE })
      return pods.find((pod) => stringAt(pod, 'metadata', 'name')?.startsWith('kleym-operator-'))
    }, 'the pod of the operator')
    expect(stringAt(made, 'spec', 'serviceAccountName')).toBe('kleym-operator')
  })

  await step('the operator works as it is deployed', async () => {
    await settle('team-a')
    await settle('defaulted', { mode: undefined })
    const [output] = await outputsOf(cp, 'team-a', 'chat')
    expect(dig(output, 'spec', 'className')).toBe(CLASS)
  })

  for (const { what, className, says } of WARNINGS)
    await step(`the notes warn of ${what}`, async () => {
      const args = ['--namespace', RELEASE_NAMESPACE, '--reuse-values', '--set', `className=${className}`]
      const { stdout } = await helm('upgrade', RELEASE, CHART, '--dry-run=server', ...args)
      for (const text of says) expect(stdout).toContain(text)
    })

  await step(
    'a class that a shell would read otherwise is named, but stands in no command of the notes',
    async () => {
      const { spec, ...object } = foreign('hostile')
      await cp.apply([{ ...object, spec: { ...Object(spec), className: '$(id)' } }])
      const args = ['--namespace', RELEASE_NAMESPACE, '--reuse-values', '--set', 'className=other']
      const { stdout } = await helm('upgrade', RELEASE, CHART, '--dry-run=server', ...args)
      await cp.admin.delete(outputId('hostile'))
      expect(stdout).toContain(`they have "$(id)", "${CLASS}"`)
      expect(stdout).toContain(`--set className=${CLASS}\n`)
    },
  )

  // Upgrade and rollback.
  await step(
    'an upgrade brings the CRD and the templates of its version, and touches no identity',
    async () => {
      expect(await columns()).not.toContain(NEW_COLUMN)
      expect(await configMap(DROPPED)).toBeDefined()
      const before = await versions()
      await works(UPGRADE[0])
      expect(await columns()).toContain(NEW_COLUMN)
      expect(await configMap(DROPPED)).toBeUndefined()
      expect(await versions()).toEqual(before)
      const defaulted = await cp.admin.get(bindingId('defaulted', 'chat'))
      expect(dig(defaulted, 'spec', 'mode')).toBe('PerObjective')
    },
  )

  await step('the new operator takes over without a write but to its Lease', async () => {
    const before = await versions()
    await operator.stop()
    const since = await cp.auditMark()
    await startOperator()
    const writes = await cp.audit({ user: ACCOUNT, since, verbs: WRITE_VERBS })
    expect(writes.map(({ resource }) => resource).filter((resource) => resource !== 'leases')).toEqual([])
    expect(await versions()).toEqual(before)
  })

  await step('a rollback brings the older version back, and touches no identity; then up again', async () => {
    const before = await versions()
    await works(UPGRADE[1])
    expect(await columns()).not.toContain(NEW_COLUMN)
    const deployment = await cp.admin.get(DEPLOYMENT)
    expect(stringAt(deployment, 'metadata', 'labels', 'helm.sh/chart')).toBe(`kleym-${OLDER_VERSION}`)
    await works(UPGRADE[0])
    expect(await columns()).toContain(NEW_COLUMN)
    expect(await versions()).toEqual(before)
    await cp.admin.delete(bindingId('defaulted', 'chat'))
    await untilBindingGone(cp, 'defaulted', 'chat')
  })

  // A second release.
  await step('is refused, with a sentence that names the first', async () => {
    const { status, stderr } = await second()
    expect(stderr).toContain(
      `kleym is installed already, as release ${RELEASE} in namespace ${RELEASE_NAMESPACE}, and two would fight over the same objects`,
    )
    expect(status).not.toBe(0)
  })

  await step('is refused by Helm itself where the first cannot be asked about', async () => {
    await cp.admin.patch(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'kleym-operator' },
      { metadata: { annotations: { 'meta.helm.sh/release-name': null } } },
    )
    const { status, stderr } = await second()
    expect(stderr).toContain('cannot be imported into the current release')
    expect(status).not.toBe(0)
    await works(UPGRADE[0]?.replace('helm upgrade', 'helm upgrade --take-ownership'))
  })

  // Uninstall.
  await step(
    'is refused before anything is deleted while an identity is in force, and can be taken back',
    async () => {
      const before = await versions()
      const { status, stderr } = await helm('uninstall', RELEASE, '--namespace', RELEASE_NAMESPACE)
      expect(stderr).toContain('the identity of binding team-a/chat is in force')
      expect(stderr).toContain('kubectl delete iib --all --all-namespaces')
      expect(status).not.toBe(0)
      expect(await cp.admin.get(DEPLOYMENT)).toBeDefined()
      expect(await versions()).toEqual(before)
      await works(UNINSTALL[1])
      expect(stringAt(await cp.admin.get(DEPLOYMENT), 'metadata', 'labels', 'helm.sh/chart')).not.toContain(
        OLDER_VERSION,
      )
      await works(UPGRADE[0])
      expect(await versions()).toEqual(before)
    },
  )

  await step(
    'without hooks it leaves what is in force, and a new install under another name goes on with it',
    async () => {
      await settle('team-b')
      const before = await versions()
      // The kubelet ends it at the same time; first here, so that it can still give its Lease up.
      await operator.stop()
      await works(`helm uninstall ${RELEASE} --namespace ${RELEASE_NAMESPACE} --no-hooks`)
      expect(await versions()).toEqual(before)
      // It waits for an operator.
      await cp.admin.delete(bindingId('team-b', 'chat'))
      expect(await outputsOf(cp, 'team-b', 'chat')).toHaveLength(1)
      const install = `helm install other charts/kleym --take-ownership --namespace ${RELEASE_NAMESPACE} ${ports}`
      await works(`${install} ${LEAST.join(' ')} --set className=${CLASS}`)
      await startOperator()
      await untilBindingGone(cp, 'team-b', 'chat')
      expect(await outputsOf(cp, 'team-b', 'chat')).toEqual([])
      expect(await outputsOf(cp, 'team-a', 'chat')).toHaveLength(1)
    },
  )

  await step('when the operator is gone for good, the commands of the page free what hangs', async () => {
    await settle('team-c')
    await operator.stop()
    await works(`helm uninstall other --namespace ${RELEASE_NAMESPACE} --no-hooks`)
    await cp.admin.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'team-c' })
    await until(async () => {
      const held = await cp.admin.get(bindingId('team-c', 'chat'))
      return stringAt(held, 'metadata', 'deletionTimestamp') !== undefined
    }, 'the deletion to reach the binding')
    await works(UNINSTALL[3])
    await untilBindingGone(cp, 'team-c', 'chat')
    expect((await outputs(cp)).map((output) => stringAt(output, 'metadata', 'name'))).toEqual([
      'spire-mgmt-spire-default',
    ])
    await until(
      async () => (await cp.admin.get({ apiVersion: 'v1', kind: 'Namespace', name: 'team-c' })) === undefined,
      'the namespace to be gone',
    )
  })

  await step('in the order of the page it leaves nothing but the CRD, and that goes last', async () => {
    await works(
      `helm install kleym charts/kleym --take-ownership --namespace ${RELEASE_NAMESPACE} ${ports} ${LEAST.join(' ')}`,
    )
    await startOperator()
    await settle('team-d')
    expect(await works(UNINSTALL[0])).toContain(`release "${RELEASE}" uninstalled`)
    expect(await operator.stop()).toBe('exit code 0')
    expect((await outputs(cp)).length).toBe(1)
    expect(await leftovers()).toEqual([`CustomResourceDefinition ${BINDINGS_CRD}`])
    await works(UNINSTALL[2])
    await until(async () => (await leftovers()).length === 0, 'the CRD to be gone')
  })
})

/** Everything that bears the chart's label. */
async function leftovers(): Promise<readonly string[]> {
  const kinds = [
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
    ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
    ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy'],
    ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding'],
    ['apps/v1', 'Deployment'],
    ['v1', 'Service'],
    ['v1', 'ServiceAccount'],
    ['v1', 'ConfigMap'],
  ] as const
  const found = await Promise.all(
    kinds.map(async ([apiVersion, kind]) => {
      const all = await cp.admin.list({ apiVersion, kind })
      return all
        .filter((object) => stringAt(object, 'metadata', 'labels', 'app.kubernetes.io/name') === 'kleym')
        .map((object) => `${kind} ${stringAt(object, 'metadata', 'name')}`)
    }),
  )
  return found.flat()
}
