// Which SCM acts on what kleym writes, by the workloads and ConfigMaps of the ways in which people install it.
import { describe, expect, test } from 'vitest'
import { scmContainers } from '../../src/core/analysis/settings/scm-container.ts'
import { acts, outputHandling, scmInstances } from '../../src/core/analysis/settings/scm-instance.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'

const EVIDENCE = { trustDomain: undefined, className: undefined, clusterSpiffeIdClasses: [] }

/** A Deployment with one container, and these mounts of the ConfigMaps `a` and `b`. */
function deployment(container: JsonRecord, volumes: readonly unknown[] = VOLUMES): JsonRecord {
  const spec = { template: { spec: { containers: [container], volumes } } }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'spire', name: 'scm' }, spec }
}

const VOLUMES = ['a', 'b'].map((name) => ({ name, configMap: { name } }))
const IMAGE = 'ghcr.io/spiffe/spire-controller-manager:0.7.0'

function mount(name: string, at: string, file?: string): JsonRecord {
  return { name, mountPath: at, ...(file !== undefined && { subPath: file }) }
}

function configOf(className: string): JsonRecord {
  return { trustDomain: 'example.org', clusterName: 'c', className }
}

describe('a container of SCM', () => {
  test.each<[what: string, container: JsonRecord, is: boolean]>([
    ['by its image', { name: 'x', image: IMAGE }, true],
    ['by an image of another distribution', { image: 'r/spire-controller-manager-rhel9@sha256:12' }, true],
    ['by its name, from a mirror', { name: 'spire-controller-manager', image: 'm/0123' }, true],
    ['that is one of several', { name: 'spire-controller-manager-child', image: 'm/0123' }, true],
    ['not the server', { name: 'spire-server', image: 'ghcr.io/spiffe/spire-server:1' }, false],
    ['not one that only comes from there', { image: 'spire-controller-manager/other:1' }, false],
    ['not without image and name', {}, false],
    ['not from nonsense', { name: 5, image: ['spire-controller-manager'] }, false],
  ])('%s', (_what, container, is) => {
    expect(scmContainers(deployment(container))).toHaveLength(is ? 1 : 0)
  })

  test('of no other kind of object', () => {
    const one = deployment({ image: IMAGE })
    expect(scmContainers({ ...one, kind: 'Job' })).toEqual([])
    expect(scmContainers({ kind: 'Deployment', spec: 7 })).toEqual([])
  })
})

describe('its configuration', () => {
  test.each<[what: string, args: readonly string[], mounts: readonly JsonRecord[], key: string | undefined]>([
    [
      'a file at the root',
      ['--config=c.yaml'],
      [mount('a', '/x'), mount('b', '/c.yaml', 'c.yaml')],
      'b c.yaml',
    ],
    [
      'a file under another name',
      ['--config', '/c.yaml'],
      [mount('a', '/d', 'c.yaml'), mount('b', '/c.yaml', 'key')],
      'b key',
    ],
    ['a folder', ['-config=/etc/b/c.yaml'], [mount('a', '/etc/a'), mount('b', '/etc/b')], 'b c.yaml'],
    ['the only one', [], [mount('b', '/somewhere')], 'b undefined'],
    ['one of two, and nobody says which', [], [mount('a', '/x'), mount('b', '/y')], undefined],
    ['none', ['--config=c.yaml'], [], undefined],
  ])('%s', (_what, args, volumeMounts, key) => {
    const [found] = scmContainers(deployment({ image: IMAGE, args, volumeMounts }))
    expect(found?.config && `${found.config.name} ${found.config.key}`).toBe(key)
    expect(found?.isForOtherCluster).toBe(false)
  })

  test('a key that the volume calls otherwise', () => {
    const volumes = [{ name: 'a', configMap: { name: 'a', items: [{ key: 'real', path: 'c.yaml' }] } }]
    const container = { image: IMAGE, args: ['--config=/etc/c.yaml'], volumeMounts: [mount('a', '/etc')] }
    expect(scmContainers(deployment(container, volumes))[0]?.config?.key).toBe('real')
  })

  test.each([[['--kubeconfig=/k']], [['-kubeconfig', '/k']]])('%j is for another cluster', (args) => {
    const [found] = scmContainers(deployment({ image: IMAGE, args, volumeMounts: [mount('a', '/x')] }))
    expect(found?.isForOtherCluster).toBe(true)
  })
})

describe('where nobody knows the workloads', () => {
  const configs = ['green', 'blue'].map((className) => ({ config: configOf(className), source: className }))

  test('the configuration that handles the class comes first, and the others stay', () => {
    const found = scmInstances(configs, [], { className: 'blue' }, EVIDENCE)
    expect(found.map((one) => `${one.settings.source} ${acts(one)}`)).toEqual(['blue true', 'green false'])
  })

  test('and where none does, the first found comes first', () => {
    const found = scmInstances(configs, [], { className: 'red' }, EVIDENCE)
    expect(found.map((one) => `${one.settings.source} ${acts(one)}`)).toEqual(['green false', 'blue false'])
  })

  test('a class that only an environment variable tells is not known to be ours, nor not to be', () => {
    const [found] = scmInstances(
      [{ config: configOf('${CLASS}'), source: 'x' }],
      [],
      { className: 'blue' },
      EVIDENCE,
    )
    expect(found?.handling.state).toBe('unknown')
  })
})

describe('a configuration that no container mounts', () => {
  const at = { namespace: 'spire', name: 'other', key: 'c.yaml' }
  const configs = [{ config: configOf('blue'), source: 'ConfigMap', at }]
  const mounting = (name: string, args: readonly string[] = []): JsonRecord =>
    deployment({ image: IMAGE, args, volumeMounts: [mount(name, '/x')] })
  const volumes = [{ name: 'other', configMap: { name: 'other' } }]

  test.each<[what: string, workloads: readonly JsonRecord[], count: number]>([
    ['counts while no container is known', [], 1],
    ['counts if a container does not tell what it mounts', [deployment({ image: IMAGE })], 1],
    ['does not count beside a container that mounts what was not found', [mounting('a')], 0],
    ['counts beside one that acts on another cluster', [mounting('a', ['--kubeconfig=/k'])], 1],
    [
      'is one that a container mounts',
      [deployment({ image: IMAGE, volumeMounts: [mount('other', '/x')] }, volumes)],
      1,
    ],
  ])('%s', (_what, workloads, count) => {
    const found = scmInstances(configs, workloads.flatMap(scmContainers), { className: 'blue' }, EVIDENCE)
    expect(found).toHaveLength(count)
  })
})

describe('what SCM does with the outputs of a class', () => {
  const long = 'a'.repeat(64)
  test.each<
    [what: string, config: JsonRecord, className: string, labels: Record<string, string>, state: string]
  >([
    ['its class', {}, 'blue', {}, 'handled'],
    ['another class', {}, 'green', {}, 'ignored'],
    ['its class, by the label too', { filterByClassName: true }, 'blue', {}, 'handled'],
    ['a class that is no label', { className: long, filterByClassName: true }, long, {}, 'ignored'],
    ['a label that nobody sets', { clusterSPIFFEIDLabelSelector: { team: 'x' } }, 'blue', {}, 'ignored'],
    [
      'a label that the install sets',
      { clusterSPIFFEIDLabelSelector: { team: 'x' } },
      'blue',
      { team: 'x' },
      'handled',
    ],
    [
      'the label that all outputs have',
      { clusterSPIFFEIDLabelSelector: { 'kleym.sonda.red/managed-by': 'kleym' } },
      'blue',
      {},
      'handled',
    ],
    ['no ClusterSPIFFEIDs at all', { reconcile: { clusterStaticEntries: true } }, 'blue', {}, 'ignored'],
    ['those without a class', { watchClassless: true }, '', {}, 'handled'],
  ])('%s', (_what, config, className, labels, state) => {
    const { settings } = readScmSettings({ ...configOf('blue'), ...config }, 'x', EVIDENCE)
    const outputLabels = new Map(Object.entries(labels))
    expect(outputHandling({ className, outputLabels }, settings).state).toBe(state)
  })
})
