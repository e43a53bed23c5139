// `status` in the ways in which people install SCM: it names the one that acts on kleym's class, or says that none does, with
// no flag; and `explain` in one namespace uses that one too.
import { machineReport } from '../../../src/frame/finish.ts'
import { describe, expect, test } from 'vitest'
import { type JsonRecord, stringAt } from '@kleym/shared/core/base/json.ts'
import { SCM_LAYOUTS, type ScmLayout } from '@kleym/testing/scm-layouts.ts'
import { resultOf } from '../../../src/frame/result.ts'
import { statusFrame } from '../../../src/answers/status/frame.ts'
import { readInstallation } from '../../../src/cluster/installation.ts'
import { readLiveSide } from '../../../src/cluster/live-side.ts'
import { ClusterReader } from '../../../src/cluster/reader.ts'
import { SCM_NAMESPACES } from '../../../src/flags/flags.ts'
import { installedInput } from '../../../src/gather/installed.ts'
import { PLAIN } from '../../../src/io/palette.ts'
import { render } from '../../../src/text/line.ts'
import { api, FakeClient, type Answers } from '../../support/fake-client.ts'
import { OPTIONS } from '../../support/status-options.ts'

function operator(className: string): JsonRecord {
  const args = ['--trust-domain=example.org', `--clusterspiffeid-class-name=${className}`]
  return {
    metadata: { name: 'kleym', namespace: 'kleym', labels: { 'app.kubernetes.io/name': 'kleym' } },
    spec: { template: { spec: { containers: [{ name: 'operator', image: 'kleym:1', args }] } } },
    status: { availableReplicas: 1 },
  }
}

/** A binding of which the operator says this. */
function bindingSaid(reason: string): JsonRecord {
  const at = { observedGeneration: 1, lastTransitionTime: '2026-11-22T00:00:00Z', message: '' }
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Reconciled', ...at },
    { type: 'InForce', status: 'True', reason, ...at },
  ]
  return {
    metadata: { name: 'chat', namespace: 'team-a', uid: 'uid-of-chat', generation: 1 },
    spec: { poolRef: { name: 'llama' }, mode: 'PoolOnly', serviceAccountName: 'runner' },
    status: { observedGeneration: 1, conditions },
  }
}

/** A cluster with these objects; its Deployments hold the operator's too, and `inForce` is what its binding says. */
function cluster(objects: readonly JsonRecord[], className: string, inForce = 'Registered'): Answers {
  const of = (kind: string, namespace?: string): readonly JsonRecord[] =>
    objects.filter(
      (one) =>
        one['kind'] === kind &&
        (namespace === undefined || stringAt(one, 'metadata', 'namespace') === namespace),
    )
  const spaces = [...new Set(of('ConfigMap').map((one) => stringAt(one, 'metadata', 'namespace') ?? ''))]
  return {
    lists: {
      'Deployment.apps': [[[operator(className), ...of('Deployment')]]],
      'StatefulSet.apps': [[of('StatefulSet')]],
      'InferenceIdentityBinding.kleym.sonda.red': [[[bindingSaid(inForce)]]],
      'StatefulSet.apps team-a': [[[]]],
      'Deployment.apps team-a': [[[]]],
      ...Object.fromEntries(spaces.map((space) => [`ConfigMap ${space}`, [[of('ConfigMap', space)]]])),
    },
  }
}

interface Said {
  /** The lines about SCM: mark and text. */
  readonly rows: readonly string[]
  readonly fields: { readonly [key: string]: unknown }
  readonly codes: readonly string[]
  readonly notes: readonly string[]
  readonly calls: readonly string[]
}

async function status(answers: Answers): Promise<Said> {
  const fake = new FakeClient(answers)
  const question = { namespaces: undefined, scmNamespaces: SCM_NAMESPACES }
  const installation = await readInstallation(fake.client, new ClusterReader(fake.client, 'dev'), question)
  const options = { ...OPTIONS, sources: { ...OPTIONS.sources, scmNamespaces: SCM_NAMESPACES } }
  const input = await installedInput(installation, options, { cwd: '/', namespace: undefined })
  const frame = statusFrame(input, installation, new Date('2026-11-22T00:00:00Z'))
  const lines = render(frame.view({ width: 300, wide: false }, []), PLAIN).split('\n')
  return {
    rows: lines.filter((line) => /^. SCM /.test(line)).map((line) => line.replace(/ SCM +/, ' ').trimEnd()),
    fields: await machineReport(resultOf(frame, input, options.output)),
    codes: frame.findings.map(({ code }) => code),
    notes: input.notes,
    calls: fake.calls,
  }
}

describe.each(SCM_LAYOUTS)('$name', (layout: ScmLayout) => {
  const { objects, className, acts, others } = layout

  test('status names the one that acts, and then the others', async () => {
    const { rows, codes, fields, calls } = await status(cluster(objects, className))
    const [workload, configMap] = acts
    expect(rows[0]).toBe(`✓ handles kleym's class (${configMap}, ${workload})`)
    const rest = rows.slice(1).toSorted()
    expect(rest).toHaveLength(others.length)
    for (const [other, its] of others) {
      expect(rest.some((row) => row.startsWith(`· does not act on kleym's outputs: class ${its} (`))).toBe(
        true,
      )
      expect(rest.some((row) => row.endsWith(`, ${other})`))).toBe(true)
    }
    expect(codes.filter((code) => ['KLM401', 'KLM410'].includes(code))).toEqual([])
    expect(fields['scms']).toHaveLength(1 + others.length)
    // Of other namespaces no ConfigMap is read.
    const read = calls.filter((call) => call.startsWith('list ConfigMap')).toSorted()
    expect(read).toEqual(layout.namespaces.map((space) => `list ConfigMap ${space}`).toSorted())
  })

  test('status says that none acts on a class that nobody has', async () => {
    const { rows, codes } = await status(cluster(objects, 'nobody'))
    expect(rows).toHaveLength(1 + others.length)
    expect(rows.every((row) => row.startsWith('✗'))).toBe(true)
    expect(rows[0]).toContain("ignores kleym's outputs")
    expect(codes).toContain('KLM401')
  })

  test('a question about one namespace finds the same one', async () => {
    const fake = new FakeClient(cluster(objects, className))
    const side = await readLiveSide(new ClusterReader(fake.client, 'dev'), {
      namespaces: ['team-a'],
      scmNamespaces: SCM_NAMESPACES,
      kind: undefined,
      policies: false,
      names: false,
      federation: false,
      files: [],
    })
    const maps = side.objects.filter(({ value }) => value['kind'] === 'ConfigMap')
    const found = maps.map(
      ({ value }) =>
        `ConfigMap ${stringAt(value, 'metadata', 'namespace')}/${stringAt(value, 'metadata', 'name')}`,
    )
    expect(found).toContain(acts[1])
    // The workloads of SCM are none of the question's.
    expect(side.objects.filter(({ value }) => value['kind'] === 'StatefulSet')).toEqual([])
  })
})

const [HARDENED] = SCM_LAYOUTS
const SEVERAL = SCM_LAYOUTS.find(({ others }) => others.length > 1)

describe('what is not found is said, and never taken for handled', () => {
  test('no workload runs SCM', async () => {
    const { rows, fields } = await status(cluster([], 'spire-mgmt-spire'))
    expect(fields).toMatchObject({ scmHandlesClass: 'unknown', scms: [] })
    expect(rows).toEqual([
      '! none was found in a Deployment or StatefulSet; its settings are assumed, as the SPIRE chart sets them',
    ])
  })

  test('SCM runs, and its ConfigMap may not be read', async () => {
    const answers = cluster(HARDENED?.objects ?? [], 'spire-mgmt-spire')
    const lists = { ...answers.lists, 'ConfigMap spire-server': [[api(403)]] }
    const { rows, fields } = await status({ lists })
    expect(fields).toMatchObject({ scmHandlesClass: 'unknown', scms: [] })
    expect(rows).toEqual([
      '! StatefulSet spire-server/spire-server runs it, and what it is set to could not be read; its settings are assumed, as the SPIRE chart sets them',
    ])
  })

  test('workloads may not be listed: the usual namespaces are tried', async () => {
    const answers = cluster(HARDENED?.objects ?? [], 'spire-mgmt-spire')
    const lists = { ...answers.lists, 'StatefulSet.apps': [[api(403)]] }
    const { rows } = await status({ lists })
    expect(rows).toEqual(["✓ handles kleym's class (ConfigMap spire-server/spire-controller-manager)"])
  })

  test('workloads may not be listed, and the usual namespaces have none', async () => {
    const { lists } = cluster([], 'spire-mgmt-spire')
    const { rows, fields } = await status({ lists: { ...lists, 'StatefulSet.apps': [[api(403)]] } })
    expect(fields).toMatchObject({ scmHandlesClass: 'unknown', scms: [] })
    expect(rows).toEqual([
      '! not known: no configuration of it was found, and not every workload may be listed; its settings are assumed, as the SPIRE chart sets them',
    ])
  })

  test('where the namespace was given, no workload is asked for', async () => {
    const fake = new FakeClient(cluster(HARDENED?.objects ?? [], 'spire-mgmt-spire'))
    await readInstallation(fake.client, new ClusterReader(fake.client, 'dev'), {
      namespaces: undefined,
      scmNamespaces: ['elsewhere'],
      isScmNamespaceGiven: true,
    })
    expect(fake.calls.filter((call) => call.startsWith('list StatefulSet'))).toEqual([])
    expect(fake.calls).toContain('list ConfigMap elsewhere')
  })

  test('two that both handle the class are both named, and a note says so', async () => {
    const twice = (SEVERAL?.objects ?? []).map((one) =>
      JSON.parse(JSON.stringify(one).replaceAll('className: \\"green\\"', 'className: \\"blue\\"')),
    )
    const { rows, notes } = await status(cluster(twice, 'blue'))
    expect(rows.filter((row) => row.startsWith('✓'))).toHaveLength(2)
    // The one where SCM usually is comes first: anybody may make a workload that looks like one.
    expect(rows[0]).toContain('StatefulSet spire-server/spire-server')
    expect(notes.join('\n')).toContain("one of 2 that handle kleym's class")
  })
})

/** What stands in one namespace of the cluster with several. */
function inNamespace(name: string): readonly JsonRecord[] {
  return (SEVERAL?.objects ?? []).filter((one) => stringAt(one, 'metadata', 'namespace') === name)
}

describe('what only looks like an SCM makes no answer sure', () => {
  /** Anybody's, in a namespace of a tenant. */
  const LOOKALIKE = inNamespace('spire-blue')
  /** The SCM of SPIRE's own namespace, which has another class. */
  const GREEN = inNamespace('spire-server')

  test.each(['Pending', 'NotHandled', 'Undetermined', 'NoOutput'])(
    'one with the class, beside the real one with another, while InForce says %s',
    async (reason) => {
      const { rows, fields } = await status(cluster([...GREEN, ...LOOKALIKE], 'blue', reason))
      expect(rows.filter((row) => row.startsWith('✓'))).toEqual([])
      expect(rows[0]).toBe(
        "! not known whether it handles kleym's class (ConfigMap spire-blue/spire-controller-manager, StatefulSet spire-blue/spire-server): it claims so, as any workload can, and no binding's InForce shows that it acts; if it is yours, pass --scm-namespace spire-blue",
      )
      expect(fields).toMatchObject({ scmHandlesClass: 'unknown', scms: [{ handlesClass: 'unknown' }, {}] })
    },
  )

  test('one beside a real one that handles the class', async () => {
    const blue: readonly JsonRecord[] = GREEN.map((one) =>
      JSON.parse(JSON.stringify(one).replaceAll('className: \\"green\\"', 'className: \\"blue\\"')),
    )
    const { rows, fields } = await status(cluster([...LOOKALIKE, ...blue], 'blue', 'Pending'))
    expect(fields['scmHandlesClass']).toBe('handled')
    expect(rows.map((row) => row.slice(0, row.indexOf('(')))).toEqual([
      "✓ handles kleym's class ",
      "· not known whether it handles kleym's class too ",
    ])
  })

  test('with --scm-namespace it is whoever asks that says so', async () => {
    const fake = new FakeClient(cluster(LOOKALIKE, 'blue', 'Pending'))
    const sources = { ...OPTIONS.sources, scmNamespaces: ['spire-blue'], isScmNamespaceGiven: true }
    const installation = await readInstallation(fake.client, new ClusterReader(fake.client, 'dev'), {
      namespaces: undefined,
      ...sources,
    })
    const input = await installedInput(
      installation,
      { ...OPTIONS, sources },
      { cwd: '/', namespace: undefined },
    )
    const frame = statusFrame(input, installation, new Date('2026-11-22T00:00:00Z'))
    expect(await machineReport(resultOf(frame, input, OPTIONS.output))).toMatchObject({
      scmHandlesClass: 'handled',
    })
  })
})

test('a question about one namespace looks for the SCM of the class that the command line gives', async () => {
  const answers = cluster(SEVERAL?.objects ?? [], 'green')
  const mapsWith = async (className: string | undefined): Promise<readonly (string | undefined)[]> => {
    const fake = new FakeClient(answers)
    const side = await readLiveSide(new ClusterReader(fake.client, 'dev'), {
      namespaces: ['team-a'],
      scmNamespaces: SCM_NAMESPACES,
      output: { className, outputLabels: undefined },
      kind: undefined,
      policies: false,
      names: false,
      federation: false,
      files: [],
    })
    const maps = side.objects.filter(({ value }) => value['kind'] === 'ConfigMap')
    return maps.map(({ value }) => stringAt(value, 'metadata', 'namespace'))
  }
  // The operator has the class of the SCM that is where SCM usually is.
  expect(await mapsWith(undefined)).toEqual(['spire-server'])
  expect(await mapsWith('blue')).toContain('spire-blue')
})
