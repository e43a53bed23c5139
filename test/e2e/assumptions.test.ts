// What was not given: an assumption may make an answer longer, never surer (docs/assumptions.md). Each test is a way in which
// kleym once gave a confident answer from something that nobody had told it.
import { beforeAll, describe, expect, test } from 'vitest'
import { SCM_LAYOUTS } from '@kleym/testing/scm-layouts.ts'
import { built, ESTATE, kleym, type Run } from './plugin.ts'
import { BINDING, documents, NODE, OBJECTIVE, POD, POOL, SMALL, workspace } from './workspace.ts'

beforeAll(built)

const TRUST = ['--trust-domain', 'example.org'] as const
const CHARTS_CLASS = ['--clusterspiffeid-class-name', 'spire-mgmt-spire'] as const
const ID = 'spiffe://example.org/ns/team-a/objective/chat'

function scmConfig(fields: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1\nkind: ControllerManagerConfig\ntrustDomain: example.org\nclusterName: prod\n${fields}\n`
}

function foreign(name: string, spec: string): string {
  return `apiVersion: spire.spiffe.io/v1alpha1\nkind: ClusterSPIFFEID\nmetadata: {name: ${name}}\nspec: {${spec}}\n`
}

const VICTIM_POD = POD.replace('llama-0', 'thief')
  .replace('namespace: team-a', 'namespace: team-b')
  .replace('app: llama', 'app: thief')
  .replace('3d0ff7fd', '4d0ff7fd')
const THIEF = foreign('mesh', `spiffeIDTemplate: ${ID}, podSelector: {matchLabels: {app: thief}}`)

async function ask(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> {
  const paths = Object.keys(files).filter((name) => name !== 'scm.yaml')
  return kleym([...args, '--offline', ...paths.flatMap((path) => ['-f', path])], { cwd: workspace(files) })
}

describe("kleym's class is not given", () => {
  const world = { 'all.yaml': documents(SMALL, VICTIM_POD, THIEF) }

  test.each(['conflicts', 'explain team-a/chat', 'who-selects pod/team-b/thief'])(
    'a classless theft of an ID is named, and exit code 4: %s',
    async (command) => {
      const run = await ask(world, ...command.split(' '), ...TRUST)
      expect(run.stdout).toMatch(/^! some settings are unknown; parts of this answer are assumptions\n/m)
      expect(run.stdout).toMatch(/KLM308|depends: ignored/)
      expect(run.stdout).not.toMatch(/^ *[✓✗]/m)
      expect(run.stdout).toMatch(/^ {2}kleym's class: it is assumed to be SCM's/m)
      expect(run.stderr).not.toContain("kleym's class")
      expect(run.code).toBe(4)
    },
  )

  test("with the classless SCM's configuration it is an error, whatever kleym's class is", async () => {
    const files = { ...world, 'scm.yaml': scmConfig('ignoreNamespaces: []') }
    const run = await ask(files, 'conflicts', ...TRUST, '--scm-config', 'scm.yaml')
    expect(run.stdout).toMatch(/^✗ team-a\/chat, ClusterSPIFFEID\/mesh: .* KLM308$/m)
    expect(run.code).toBe(1)
  })

  test('two identities on one container are named too', async () => {
    const beside = foreign(
      'beside',
      'spiffeIDTemplate: "spiffe://example.org/x", podSelector: {matchLabels: {app: llama}}',
    )
    const run = await ask({ 'all.yaml': documents(SMALL, beside) }, 'conflicts', ...TRUST)
    expect(run.stdout).toMatch(/KLM303$/m)
    expect(run.stdout).toContain("depends on SCM's settings: true if SCM has no class")
    expect(run.code).toBe(4)
  })

  test("it is assumed to be SCM's whose configuration is among the files, and no error rests on that", async () => {
    const run = await ask(
      { 'all.yaml': SMALL, 'config.yaml': scmConfig('className: spire-mgmt-spire') },
      'explain',
      'team-a/chat',
      '--strict',
      ...TRUST,
    )
    expect(run.stdout).not.toContain('KLM401')
    expect(run.stdout).toContain("kleym's class: it is assumed to be SCM's, spire-mgmt-spire")
    expect(run.stdout).toMatch(/^! team-a\/chat is ready: 1 container gets\n.*\(on assumed settings\)$/m)
    expect(run.code).toBe(4)
  })

  test('with every setting given nothing depends', async () => {
    const run = await ask(
      { 'all.yaml': SMALL, 'scm.yaml': scmConfig('className: spire-mgmt-spire') },
      'explain',
      'team-a/chat',
      ...TRUST,
      ...CHARTS_CLASS,
      '--scm-config',
      'scm.yaml',
    )
    expect(run.stdout).toMatch(/^✓ team-a\/chat is ready: 1 container gets\n/)
    expect(run.stdout).not.toContain('depends')
    expect(run.code).toBe(0)
  })
})

describe('examples/wrong-class', () => {
  const example = ['conflicts', '--offline', '-f', 'examples/wrong-class', ...TRUST] as const

  test('says what it depends on, and for which SCM it is so', async () => {
    const run = await kleym(example)
    expect(run.stdout).toMatch(/^! team-a\/chat, ClusterSPIFFEID\/mesh: .* KLM308$/m)
    expect(run.stdout).toContain("depends on SCM's settings: true if SCM has no class")
    expect(run.code).toBe(4)
  })

  test("is no clash for the charts' SCM, and says how far the files go", async () => {
    const run = await kleym([...example, ...CHARTS_CLASS, '--scm-config', 'examples/scm-config.yaml'])
    expect(run.stdout).toBe('✓ nothing clashes in 1 binding of 1 namespace among these files\n')
    expect(run.code).toBe(0)
  })
})

describe('several SCMs', () => {
  test.each(SCM_LAYOUTS.filter(({ others }) => others.length > 0).map((one) => [one.name, one] as const))(
    "%s: the one of kleym's class is taken",
    async (_name, { objects, className }) => {
      const files = {
        'all.yaml': SMALL,
        'spire.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
      }
      const run = await ask(
        files,
        'explain',
        'team-a/chat',
        ...TRUST,
        '--clusterspiffeid-class-name',
        className,
      )
      expect(run.stdout).not.toContain('KLM401')
      expect(run.stdout).toMatch(/^✓ team-a\/chat is ready: 1 container gets\n/)
      expect(run.code).toBe(0)
    },
  )

  test('an ID that another of them gives away is an error', async () => {
    const theirs = THIEF.replace('spec: {', 'spec: {className: other, ')
    const files = {
      'all.yaml': documents(SMALL, VICTIM_POD, theirs),
      'ours.yaml': scmConfig('className: spire-mgmt-spire'),
      'other.yaml': scmConfig('className: other'),
    }
    const run = await ask(files, 'conflicts', ...TRUST, ...CHARTS_CLASS)
    expect(run.stdout).toMatch(/^✗ team-a\/chat, ClusterSPIFFEID\/mesh: .* KLM308$/m)
    expect(run.stdout).toContain('by the SCM of ControllerManagerConfig (other.yaml:1)')
    expect(run.code).toBe(1)
  })

  test('an ID that the SCM of the files gives away is an error, though --scm-config names one that does not act', async () => {
    const files = {
      'all.yaml': documents(SMALL, VICTIM_POD, THIEF),
      'classless.yaml': scmConfig('watchClassless: false'),
      'scm.yaml': scmConfig('className: spire-mgmt-spire'),
    }
    const given = ['--clusterspiffeid-class-name', '', '--scm-config', 'scm.yaml'] as const
    const run = await ask(files, 'conflicts', ...TRUST, ...given)
    expect(run.stdout).toMatch(/^✗ team-a\/chat, ClusterSPIFFEID\/mesh: .* KLM308$/m)
    expect(run.stdout).toContain('by the SCM of ControllerManagerConfig (classless.yaml:1)')
    expect(run.code).toBe(1)
  })

  test('which of two that act on the output serves a pod is not known', async () => {
    const files = {
      'all.yaml': SMALL,
      'base.yaml': scmConfig('className: spire-mgmt-spire'),
      'staging.yaml': scmConfig('className: spire-mgmt-spire\nignoreNamespaces: [team-a]'),
    }
    const run = await ask(files, 'explain', 'team-a/chat', ...TRUST, ...CHARTS_CLASS)
    expect(run.stdout).toContain('which SCM serves the nodes of a pod: it is assumed to be that of')
    expect(run.code).toBe(4)
  })

  test("OpenShift's is found by what its operator is told", async () => {
    const openshift = `apiVersion: operator.openshift.io/v1alpha1
kind: ZeroTrustWorkloadIdentityManager
metadata: {name: cluster}
spec: {trustDomain: example.org, clusterName: prod, bundleConfigMap: spire-bundle}
`
    const files = { 'all.yaml': SMALL, 'openshift.yaml': openshift }
    const className = 'zero-trust-workload-identity-manager-spire'
    const run = await ask(
      files,
      'explain',
      'team-a/chat',
      ...TRUST,
      '--clusterspiffeid-class-name',
      className,
    )
    expect(run.stdout).toMatch(/^✓ team-a\/chat is ready: 1 container gets\n/)
    expect(run.code).toBe(0)
    const other = await ask(files, 'explain', 'team-a/chat', ...TRUST, ...CHARTS_CLASS)
    expect(other.stdout).toContain('KLM401')
    expect(other.code).toBe(1)
  })
})

function scmOf(trustDomain: string): string {
  return scmConfig('className: c\nignoreNamespaces: []').replace('example.org', trustDomain)
}

describe('what IDs hold of SCM is not known', () => {
  const registrations = documents(
    foreign('by-domain', 'spiffeIDTemplate: "spiffe://{{ .TrustDomain }}/x", className: c'),
    foreign('literal', 'spiffeIDTemplate: "spiffe://other.example/y", className: c'),
  )

  test('an ID that it is part of may be another, and one that names another domain may be issued', async () => {
    const given = ['--scm-config', 'scm.yaml', '--clusterspiffeid-class-name', 'c', ...TRUST]
    const files = { 'all.yaml': documents(SMALL, registrations), 'scm.yaml': scmOf('${TRUST_DOMAIN}') }
    const run = await ask(files, 'who-selects', 'pod/team-a/llama-0', ...given)
    expect(run.stdout).not.toContain('✓')
    expect(run.stdout.replaceAll(/\s+/g, ' ')).toContain(
      "depends: probably failed (default settings assumed: SCM's trust domain): .spec.spiffeIDTemplate of",
    )
    expect(run.code).toBe(4)
  })

  test.each([
    ['trust domain', scmOf('example.org'), scmOf('two.example'), registrations],
    [
      'cluster name',
      scmOf('example.org'),
      scmOf('example.org').replace('clusterName: prod', 'clusterName: test'),
      foreign('by-cluster', 'spiffeIDTemplate: "spiffe://example.org/{{ .ClusterName }}", className: c'),
    ],
  ])('nor is an ID certain that holds the %s of one of two SCMs', async (_what, one, other, objects) => {
    const scms = [one, other].map(
      (config, at) =>
        `apiVersion: v1
kind: ConfigMap
metadata: {name: spire-controller-manager, namespace: spire-${at}}
data:
  controller-manager-config.yaml: |
${config.replaceAll(/^(?=.)/gm, '    ')}`,
    )
    const given = ['--clusterspiffeid-class-name', 'c', ...TRUST]
    const run = await ask(
      { 'all.yaml': documents(SMALL, objects, ...scms) },
      'who-selects',
      'pod/team-a/llama-0',
      ...given,
    )
    expect(run.stdout).toMatch(/! (?:spiffe:\/\/<trust-domain>\/x|ClusterSPIFFEID\/by-cluster)\n/)
    expect(run.stdout).not.toMatch(/✓ \S+org\/(x|prod)\n/)
    expect(run.code).toBe(4)
  })
})

describe('the default identity', () => {
  const settings = [...TRUST, ...CHARTS_CLASS, '--scm-config', 'scm.yaml'] as const
  const files = {
    'all.yaml': documents(
      POOL,
      OBJECTIVE,
      BINDING,
      POD.replace('[{name: vllm}]', '[{name: vllm}, {name: side}]'),
      NODE,
    ),
    'scm.yaml': scmConfig('className: spire-mgmt-spire'),
  }
  const release =
    'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: spire, namespace: flux}\nspec: {chart: {spec: {chart: spire}}}\n'

  test.each([
    [
      'conflicts',
      /✓ nothing clashes in 1 binding of 1 namespace among these files; no\s+ClusterSPIFFEID of others is among them/,
    ],
    [
      'who-selects pod/team-a/llama-0',
      /· no identity among these files; no ClusterSPIFFEID of others is among\s+them/,
    ],
    ['explain team-a/chat', /besides +no ClusterSPIFFEID of others is among these files/],
    ['diff', /container gains/],
  ])('an absence says how far the files go, and a gate can pass: %s', async (command, says) => {
    const run = await ask(files, ...command.split(' '), ...settings)
    expect(run.stdout).toMatch(says)
    expect(run.code).toBe(command === 'diff' ? 1 : 0)
  })

  test.each([
    ['of Flux', release],
    [
      'of Argo CD',
      'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: spire}\nspec: {source: {chart: spire, repoURL: x}}\n',
    ],
    [
      'of an ApplicationSet',
      'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: spire}\nspec: {template: {spec: {sources: [{chart: spire, repoURL: x}]}}}\n',
    ],
    [
      'of Flux, by reference',
      'apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: identity}\nspec: {url: "oci://ghcr.io/spiffe/helm-charts/spire"}\n',
    ],
    [
      'beside a ClusterSPIFFEID of somebody else',
      documents(
        release,
        foreign(
          'mesh',
          'spiffeIDTemplate: "spiffe://example.org/mesh", className: spire-mgmt-spire, podSelector: {matchLabels: {app: mesh}}',
        ),
      ),
    ],
    [
      'of k3s',
      'apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: spire}\nspec: {chart: spiffe/spire}\n',
    ],
    [
      'that a chart depends on',
      'apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies: [{name: spire-nested}]\n',
    ],
  ])('a chart of SPIRE %s that is not rendered makes it not known', async (_what, chart) => {
    const run = await ask({ ...files, 'chart.yaml': chart }, 'who-selects', 'pod/team-a/llama-0', ...settings)
    expect(run.stdout).not.toContain('· no identity')
    expect(run.stderr).toMatch(/deploys what is not among the files: \S*spire/)
    expect(run.code).toBe(4)
  })

  test('a chart whose registrations the live side shows is no matter', async () => {
    const fallback = 'spiffeIDTemplate: "spiffe://example.org/d", className: spire-mgmt-spire, fallback: true'
    const world = {
      'live/all.yaml': documents(files['all.yaml'], foreign('default', fallback)),
      'head/all.yaml': release,
    }
    const cwd = workspace({ ...world, 'scm.yaml': files['scm.yaml'] })
    const { code, stderr } = await kleym(
      ['conflicts', '--offline', '--live', 'live', '-f', 'head', ...settings],
      { cwd },
    )
    expect(stderr).not.toContain('deploys')
    expect(code).toBe(0)
  })

  test('a chart whose registrations are among the files, or one of something else, is no matter', async () => {
    const rendered = foreign(
      'default',
      'spiffeIDTemplate: "spiffe://example.org/d", className: spire-mgmt-spire, fallback: true',
    )
    const run = await ask({ ...files, 'chart.yaml': documents(release, rendered) }, 'conflicts', ...settings)
    expect(run.stdout).toContain('KLM402')
    expect(run.code).toBe(0)
    const crds = await ask(
      { ...files, 'chart.yaml': release.replace('chart: spire}', 'chart: spire-crds}') },
      'conflicts',
      ...settings,
    )
    expect(crds.code).toBe(0)
  })

  test('a chart of a repository is no folder, whatever folders there are', async () => {
    const chart =
      'apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: spire}\nspec: {chart: spiffe/spire}\n'
    const all = { ...files, 'apps/spiffe/spire/chart.yaml': chart }
    expect((await ask(all, 'conflicts', ...settings)).code).toBe(4)
  })
})

describe('settings that disagree', () => {
  test('a diff says so first, and calls nothing unchanged', async () => {
    const run = await kleym([
      'diff',
      '--offline',
      '--live',
      'examples/estate',
      '-f',
      'examples/changes/narrow-pool',
      '--trust-domain',
      'x.org',
    ])
    expect(run.stdout).toMatch(
      /the settings of the objects differ\s+\(KLM520\)[^]*\n\n! the settings of this answer differ from those of the objects {2}KLM520\n {2}Deployment\/kleym-system\/kleym-operator: the trust domain is example\.org here,\n? +and x\.org by the command line/,
    )
    expect(run.stdout).not.toContain('change no ClusterSPIFFEID')
    // An orphan of the estate is deleted whatever the settings are; nothing else is due without them.
    expect(run.stdout).toContain('pending without this change: 1 ClusterSPIFFEID: ')
    expect(run.stdout).toMatch(/^\d+ to create, \d+ to delete$/m)
    expect(run.code).toBe(1)
  })

  test('labels that SCM asks for are not certain where a settings file says otherwise', async () => {
    const run = await ask(
      {
        'all.yaml': documents(
          SMALL,
          'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kleym, namespace: kleym-system}\nspec:\n  selector: {matchLabels: {app: kleym}}\n  template:\n    metadata: {labels: {app: kleym}}\n    spec: {containers: [{name: operator, image: ghcr.io/x/kleym-operator:1, args: [--trust-domain=example.org, --clusterspiffeid-class-name=c, --output-label=team=infer]}]}\n',
        ),
        'scm.yaml': scmConfig('className: c\nclusterSPIFFEIDLabelSelector: {team: infer}'),
        'other.json': '{"outputLabels": {"team": "other"}}',
      },
      'who-selects',
      'pod/team-a/llama-0',
      '--scm-config',
      'scm.yaml',
      '--config',
      'other.json',
    )
    expect(run.stdout).not.toContain('✓')
    expect(run.stdout.replaceAll(/\s+/g, ' ')).toContain(
      "depends: probably issued (default settings assumed: kleym's output labels)",
    )
    expect(run.code).toBe(4)
  })

  test('a diff of files alone says so first too', async () => {
    const run = await kleym(['diff', ...ESTATE, '--trust-domain', 'x.org'])
    expect(run.stdout).toMatch(/^! the settings of this answer differ from those of the objects/m)
    expect(run.code).toBe(1)
  })
})

function operatorWith(container: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: kleym, namespace: kleym-system}
spec:
  selector: {matchLabels: {app: kleym}}
  template:
    metadata: {labels: {app: kleym}}
    spec: {containers: [{name: operator, image: kleym-operator:0.1.0, ${container}}]}
`
}

describe("kleym's class stands in what is not read", () => {
  const domain = 'args: [--trust-domain=example.org]'
  const name = 'name: KLEYM_CLUSTERSPIFFEID_CLASS_NAME'

  test.each([
    [
      'a variable from a ConfigMap',
      `${domain}, env: [{${name}, valueFrom: {configMapKeyRef: {name: a, key: b}}}]`,
    ],
    ['a ConfigMap of variables', `${domain}, envFrom: [{configMapRef: {name: a}}]`],
    ['a variable in a flag', 'args: [--trust-domain=example.org, "--clusterspiffeid-class-name=$(CLASS)"]'],
  ])('%s: it is not assumed to be none', async (_, container) => {
    const files = {
      'all.yaml': documents(SMALL, operatorWith(container)),
      'scm.yaml': scmConfig('className: spire\nwatchClassless: false\nignoreNamespaces: []'),
    }
    const { code, stdout } = await ask(
      files,
      'explain',
      'team-a/chat',
      '--strict',
      '--scm-config',
      'scm.yaml',
    )
    expect(stdout).toContain("kleym's class")
    expect([code, stdout]).toEqual([4, expect.not.stringContaining('KLM401')])
  })

  test('a domain that Helm is to fill in is none', async () => {
    const files = {
      'all.yaml': documents(SMALL, operatorWith('args: ["--trust-domain={{ .Values.domain }}"]')),
    }
    const { code, stdout } = await ask(files, 'explain', 'team-a/chat', '--strict')
    expect(stdout).toContain("kleym's trust domain")
    expect([code, stdout]).toEqual([4, expect.not.stringMatching(/KLM411|KLM506/)])
  })
})
