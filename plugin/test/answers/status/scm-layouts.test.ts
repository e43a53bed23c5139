// `status` in the ways in which people install SCM: it names the one that acts on kleym's class, or says that none does, with
// no flag; and `explain` in one namespace uses that one too.
import { describe, expect, test } from 'vitest'
import type { JsonRecord } from '@kleym/shared/core/json.ts'
import { stringAt } from '@kleym/shared/core/json.ts'
import { SCM_LAYOUTS, type ScmLayout } from '@kleym/testing/scm-layouts.ts'
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

/** A cluster with these objects; its Deployments hold the operator's too. */
function cluster(objects: readonly JsonRecord[], className: string): Answers {
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
  const input = await installedInput(installation, OPTIONS, { cwd: '/', namespace: undefined })
  const frame = statusFrame(input, installation, new Date('2026-11-22T00:00:00Z'))
  const lines = render(frame.view({ width: 300, wide: false }, []), PLAIN).split('\n')
  return {
    rows: lines.filter((line) => /^. SCM /.test(line)).map((line) => line.replace(/ SCM +/, ' ').trimEnd()),
    fields: frame.fields(),
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
    expect(rows[0]).toBe(`√ handles kleym's class (${configMap}, ${workload})`)
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
    expect(rows.every((row) => row.startsWith('×'))).toBe(true)
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

describe('what is not found is said, and never taken for handled', () => {
  test('no workload runs SCM', async () => {
    const { rows, fields } = await status(cluster([], 'spire-mgmt-spire'))
    expect(fields).toMatchObject({ scmHandlesClass: 'unknown', scms: [] })
    expect(rows).toEqual([
      '‼ none was found in a Deployment or StatefulSet; its settings are assumed, as the SPIRE chart sets them',
    ])
  })

  test('SCM runs, and its ConfigMap may not be read', async () => {
    const answers = cluster(HARDENED?.objects ?? [], 'spire-mgmt-spire')
    const lists = { ...answers.lists, 'ConfigMap spire-server': [[api(403)]] }
    const { rows, fields } = await status({ lists })
    expect(fields).toMatchObject({ scmHandlesClass: 'unknown', scms: [] })
    expect(rows).toEqual([
      '‼ StatefulSet spire-server/spire-server runs it, and what it is set to could not be read; its settings are assumed, as the SPIRE chart sets them',
    ])
  })

  test('workloads may not be listed: the usual namespaces are tried', async () => {
    const answers = cluster(HARDENED?.objects ?? [], 'spire-mgmt-spire')
    const lists = { ...answers.lists, 'StatefulSet.apps': [[api(403)]] }
    const { rows } = await status({ lists })
    expect(rows).toEqual(["√ handles kleym's class (ConfigMap spire-server/spire-controller-manager)"])
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
    const layout = SCM_LAYOUTS.find(({ others }) => others.length > 1)
    const twice = (layout?.objects ?? []).map((one) =>
      JSON.parse(JSON.stringify(one).replaceAll('className: \\"green\\"', 'className: \\"blue\\"')),
    )
    const { rows, notes } = await status(cluster(twice, 'blue'))
    expect(rows.filter((row) => row.startsWith('√'))).toHaveLength(2)
    // The one where SCM usually is comes first: anybody may make a workload that looks like one.
    expect(rows[0]).toContain('StatefulSet spire-server/spire-server')
    expect(notes.join('\n')).toContain("one of 2 that handle kleym's class")
  })
})
