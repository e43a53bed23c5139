// What the chart's notes and `kubectl kleym status` say of SCM, with no flag, on a real API server with each of the ways in
// which people install it: the one that acts on the class, or that none does.
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonRecord } from '../../shared/src/core/base/json.ts'
import { runToEnd } from '@kleym/testing/child-process.ts'
import { SCM_LAYOUTS, type ScmLayout } from '@kleym/testing/scm-layouts.ts'
import { SCM_NAMESPACES } from '../../plugin/src/flags/flags.ts'
import { FIRST_BUILD_MS } from './client-binaries.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { CHART, demand, helmOn, LEAST, RELEASE, RELEASE_NAMESPACE, type Helm } from './helm.ts'
import { namespace } from './objects.ts'

const PLUGIN = join(import.meta.dirname, '../../plugin/src/main.ts')

let cp: ControlPlane
let helm: Helm
beforeAll(async () => {
  cp = await startControlPlane({ without: ['inferenceidentitybindings.kleym.sonda.red'], controllers: [] })
  helm = await helmOn(cp)
  const spaces = new Set(SCM_LAYOUTS.flatMap(({ namespaces }) => namespaces))
  await cp.apply([RELEASE_NAMESPACE, ...spaces].map((name) => namespace(name)))
}, FIRST_BUILD_MS)
afterAll(() => cp?.stop())

/** What Helm prints at the end of an install with a class, with these objects in the cluster. */
async function notes(className: string, ...more: readonly string[]): Promise<string> {
  const args = ['--namespace', RELEASE_NAMESPACE, '--dry-run=server', ...LEAST]
  const printed = await demand(
    helm('install', RELEASE, CHART, ...args, '--set-string', `className=${className}`, ...more),
  )
  return printed.slice(printed.indexOf('\nNOTES:'))
}

/** The lines of `kubectl kleym status` about SCM. */
function statusLines(className: string, ...more: readonly string[]): readonly string[] {
  const { stdout, stderr } = runToEnd(
    process.execPath,
    [PLUGIN, 'status', '--trust-domain=example.org', `--clusterspiffeid-class-name=${className}`, ...more],
    {
      env: { HOME: cp.folder, KUBECONFIG: cp.kubeconfig(), COLUMNS: '300' },
    },
  )
  expect(stderr).not.toContain('error:')
  return stdout.split('\n').filter((line) => /^. SCM {2}/.test(line))
}

async function withObjects(objects: readonly JsonRecord[], use: () => Promise<void>): Promise<void> {
  await cp.apply(objects)
  try {
    await use()
  } finally {
    const input = objects.map((object) => JSON.stringify(object)).join('\n---\n')
    await cp.kubectl(['delete', '--wait=false', '-f', '-'], { input })
  }
}

describe.each(SCM_LAYOUTS)('$name', ({ objects, className, acts, others }: ScmLayout) => {
  test('the one that acts is named, by the notes and by status', async () => {
    await withObjects(objects, async () => {
      const [workload, configMap] = acts
      const said = await notes(className)
      expect(said).toContain(`\n  SCM           ${workload} acts on this class (${configMap})\n`)
      expect(said.match(/^ {2}SCM /gm)).toHaveLength(1)
      expect(said).not.toContain('WARNING')
      const lines = statusLines(className)
      const [, space = ''] = /^\w+ ([^/]+)\//.exec(workload) ?? []
      // No binding is there whose InForce would show that it acts: out of SPIRE's usual namespaces it has its looks alone.
      expect(lines[0]?.[0]).toBe(SCM_NAMESPACES.includes(space) ? '✓' : '!')
      expect(lines[0]).toContain(`(${configMap}, ${workload})`)
      expect(lines).toHaveLength(1 + others.length)
      const [told] = statusLines(className, `--scm-namespace=${space}`)
      expect(told).toMatch(/^✓/)
      expect(told).toContain(`(${configMap})`)
    })
  })

  test('that none acts is said, with a class that one has', async () => {
    await withObjects(objects, async () => {
      const said = await notes('nobody')
      expect(said).toContain(
        'WARNING: no SPIRE controller manager of this cluster acts on the class "nobody"',
      )
      for (const [workload] of [acts, ...others])
        expect(said).toContain(`        ${workload} acts on the class `)
      expect(said).toMatch(/--set className=("")?[\w.-]*\n/)
      const lines = statusLines('nobody')
      expect(lines).toHaveLength(1 + others.length)
      expect(lines.filter((line) => !line.startsWith('✗'))).toEqual([])
    })
  })
})

const HARDENED = SCM_LAYOUTS[0]?.objects ?? []
const CLASS = SCM_LAYOUTS[0]?.className ?? ''

/** The objects with another text in their configuration. */
function edited(objects: readonly JsonRecord[], from: string, to: string): readonly JsonRecord[] {
  return objects.map((object) => JSON.parse(JSON.stringify(object).replaceAll(from, to)))
}

test('a SCM of another trust domain is warned of', async () => {
  await withObjects(edited(HARDENED, 'trustDomain: example.org', 'trustDomain: example.com'), async () => {
    expect(await notes(CLASS)).toContain(
      'serves the trust domain "example.com", not "example.org": it would register nothing',
    )
  })
})

test('labels that SCM asks for are reported, and once they are set it acts', async () => {
  const config = 'clusterSPIFFEIDLabelSelector: {team: identity}\\n'
  await withObjects(edited(HARDENED, 'clusterName: prod\\n', `clusterName: prod\\n${config}`), async () => {
    const said = await notes(CLASS)
    expect(said).toContain('sees only ClusterSPIFFEIDs with the labels {"team":"identity"}: set outputLabels')
    expect(said).not.toContain('fix:')
    expect(await notes(CLASS, '--set', 'outputLabels.team=identity')).toContain('acts on this class')
  })
})

test('the filter by class lets the outputs through, but for a class that is no label', async () => {
  const long = 'a'.repeat(64)
  const filter = 'filterByClassName: true'
  await withObjects(edited(HARDENED, 'filterByClassName: false', filter), async () => {
    expect(await notes(CLASS)).toContain('acts on this class')
  })
  const objects = edited(edited(HARDENED, 'filterByClassName: false', filter), CLASS, long)
  await withObjects(objects, async () => {
    expect(await notes(long)).not.toContain('acts on this class')
  })
})

test('a class that a shell would read otherwise stands in no command, and one of the environment is no answer', async () => {
  const json = JSON.stringify(`className: "${CLASS}"`).slice(1, -1)
  await withObjects(edited(HARDENED, json, 'className: $(id)'), async () => {
    const said = await notes(CLASS)
    expect(said).toContain('acts on the class "$(id)"')
    expect(said).toContain('--set className=""\n')
  })
  await withObjects(edited(HARDENED, json, 'className: ${CLASS}'), async () => {
    const said = await notes(CLASS)
    expect(said).toContain('has a class that only its environment knows')
    expect(said).not.toContain('WARNING')
  })
})

test('what is no configuration at all breaks nothing', async () => {
  const data = {
    'controller-manager-config.yaml': 'kind: ControllerManagerConfig\n  - [',
    other: 'ControllerManagerConfig',
  }
  const broken = HARDENED.map((object) => (object['kind'] === 'ConfigMap' ? { ...object, data } : object))
  await withObjects(broken, async () => {
    expect(await notes(CLASS)).not.toContain('\n  SCM ')
  })
})

test.each([
  [`className: ${CLASS}\nclusterSPIFFEIDLabelSelector: {team: 1}`, 'with the labels {"team":1}'],
  [`className: ${CLASS}\nclusterSPIFFEIDLabelSelector: {team: {a: b}}`, 'with the labels {"team":{"a":"b"}}'],
  [`className: ${CLASS}\nclusterSPIFFEIDLabelSelector: text`, 'acts on this class'],
  [`className: ${CLASS}\nclusterSPIFFEIDLabelSelector: [a]`, 'acts on this class'],
  [`className: ${CLASS}\nreconcile: text`, 'acts on the class'],
  [`className: ${CLASS}\nreconcile: [clusterSPIFFEIDs]`, 'acts on the class'],
  [`className: ${CLASS}\ntrustDomain: [a]`, 'serves the trust domain "[a]"'],
  ['className: {a: b}', 'acts on the class "map[a:b]"'],
])('what any user may write into a ConfigMap does not stop an install: %j', async (text, says) => {
  const data = { 'controller-manager-config.yaml': `kind: ControllerManagerConfig\n${text}\n` }
  const written = HARDENED.map((object) => (object['kind'] === 'ConfigMap' ? { ...object, data } : object))
  await withObjects(written, async () => {
    expect(await notes(CLASS)).toContain(says)
  })
})

test('whoever may not list workloads can still install: without the roles for people, or without the look', async () => {
  for (const off of ['rbac.people=false', 'notes.findControllerManager=false']) {
    await withObjects(HARDENED, async () => {
      const since = await cp.auditMark()
      expect(await notes(CLASS, '--set', off)).not.toContain('\n  SCM ')
      const asked = await cp.audit({ since })
      expect(asked.length).toBeGreaterThan(0)
      expect(
        asked.filter(({ resource }) => resource === 'statefulsets' || resource === 'configmaps'),
      ).toEqual([])
    })
  }
})
