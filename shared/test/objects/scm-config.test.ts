// docs/spire-facts.md §7: SCM's own configuration, and what is assumed without one.
import { describe, expect, test } from 'vitest'
import { assumedScmSettings, readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import {
  BUILT_IN_IGNORE_NAMESPACES,
  CHART_IGNORE_NAMESPACES,
} from '../../src/core/model/objects/scm-settings.ts'
import { NO_EVIDENCE, type Fields } from '../spire/estate.ts'

const REQUIRED = { trustDomain: 'td', clusterName: 'c1' }

describe('a given configuration', () => {
  const rows: readonly { name: string; config: unknown; settings: Fields; problems?: readonly string[] }[] = [
    {
      name: "what it leaves out takes SCM's own defaults",
      config: REQUIRED,
      settings: {
        source: 'f.yaml',
        assumed: [],
        trustDomain: 'td',
        clusterName: 'c1',
        clusterDomain: undefined,
        className: '',
        watchClassless: false,
        ignoreNamespaces: BUILT_IN_IGNORE_NAMESPACES,
        parentIDTemplate: undefined,
        filterByClassName: false,
        cacheNamespaces: undefined,
        reconcileClusterSPIFFEIDs: true,
        reconcileClusterStaticEntries: true,
        entryIDPrefix: '',
        entryRenderCache: false,
      },
    },
    {
      name: 'the render cache is switched on by its own field',
      config: { ...REQUIRED, enableEntryRenderCache: true },
      settings: { entryRenderCache: true },
    },
    {
      name: 'an empty list ignores nothing',
      config: { ...REQUIRED, ignoreNamespaces: [] },
      settings: { ignoreNamespaces: [] },
    },
    {
      name: 'null ignores nothing either',
      config: { ...REQUIRED, ignoreNamespaces: null },
      settings: { ignoreNamespaces: [] },
    },
    {
      name: 'reconcile switches off what it does not list',
      config: { ...REQUIRED, reconcile: { clusterSPIFFEIDs: true } },
      settings: { reconcileClusterSPIFFEIDs: true, reconcileClusterStaticEntries: false },
    },
    {
      name: 'an empty reconcile switches off everything',
      config: { ...REQUIRED, reconcile: {} },
      settings: { reconcileClusterSPIFFEIDs: false, reconcileClusterStaticEntries: false },
    },
    {
      name: 'unknown fields are ignored, as SCM does',
      config: { ...REQUIRED, wachtClassless: true, apiVersion: 'spire.spiffe.io/v1alpha1' },
      settings: { watchClassless: false },
    },
    {
      name: 'an environment variable is a value that is not known',
      config: { ...REQUIRED, className: '${CLASS}', clusterDomain: '$DOMAIN' },
      settings: { className: undefined, clusterDomain: undefined, assumed: ['className'] },
    },
    {
      name: 'with static manifests it reads none of the cluster',
      config: { ...REQUIRED, staticManifestPath: '/manifests' },
      settings: { reconcileClusterSPIFFEIDs: false, reconcileClusterStaticEntries: false },
    },
    {
      name: 'what it refuses at its start is said',
      config: {
        ...REQUIRED,
        apiVersion: 'spire.spiffe.io/v1alpha9',
        gcInterval: '10s',
        syncPeriod: '1d',
        logLevel: 3,
        leaderElection: { leaderElect: 'yes', leaseDuration: 15 },
        metrics: [],
        webhook: { port: 1.5 },
        validatingWebhookConfigurationName: '',
        cacheNamespace: 'a',
        cacheNamespaces: { b: null },
        entryIDPrefix: 'x',
        entryIDPrefixCleanup: 'x',
        staticManifestPath: '/manifests',
        reconcile: { clusterSPIFFEIDs: true, clusterStaticEntries: 'no' },
      },
      settings: {},
      problems: [
        '.gcInterval is a string, not a whole number of nanoseconds',
        '.logLevel is a number, not a string',
        '.syncPeriod is no duration of Go: 1d',
        '.leaderElection.leaderElect is a string, not true or false',
        '.leaderElection.leaseDuration is a number, not a string',
        '.metrics is a list, not a mapping',
        '.webhook.port is a number, not a whole number',
        '.reconcile.clusterStaticEntries is a string, not true or false',
        '.apiVersion is spire.spiffe.io/v1alpha9, and SCM knows only spire.spiffe.io/v1alpha1',
        '.validatingWebhookConfigurationName is empty',
        '.cacheNamespace and .cacheNamespaces are both set',
        '.entryIDPrefixCleanup is the same as .entryIDPrefix',
        '.staticManifestPath is set, and .reconcile.clusterSPIFFEIDs is true',
      ],
    },
    {
      name: 'labels that it asks for are texts: null is the empty one, and any other value is refused at its start',
      config: {
        ...REQUIRED,
        clusterSPIFFEIDLabelSelector: { matchLabels: { a: 'b' }, team: 5, empty: null, c: 'd' },
        cacheNamespaces: { x: { labelSelectors: { on: true, e: 'f' }, fieldSelectors: ['g'] } },
      },
      settings: {
        clusterSPIFFEIDLabelSelector: new Map([
          ['empty', ''],
          ['c', 'd'],
        ]),
      },
      problems: [
        '.cacheNamespaces["x"].labelSelectors["on"] is a boolean, not a string',
        '.cacheNamespaces["x"].fieldSelectors is a list, not a mapping',
        '.clusterSPIFFEIDLabelSelector["matchLabels"] is a mapping, not a string',
        '.clusterSPIFFEIDLabelSelector["team"] is a number, not a string',
      ],
    },
    {
      name: 'no API server lists by labels that no object can have',
      config: {
        ...REQUIRED,
        className: 'no label value',
        filterByClassName: true,
        clusterSPIFFEIDLabelSelector: { 'a b': 'c' },
        cacheNamespaces: { x: { labelSelectors: { team: 'a team' } } },
      },
      settings: {},
      problems: [
        expect.stringMatching(
          /^\.cacheNamespaces\["x"\]\.labelSelectors asks for a label that no object can have: .*"a team"/,
        ),
        expect.stringMatching(
          /^\.clusterSPIFFEIDLabelSelector asks for a label that no object can have: .*"a b"/,
        ),
        expect.stringMatching(
          /^\.filterByClassName with \.className asks for a label that no object can have/,
        ),
      ],
    },
    {
      name: 'a dot at the end of a prefix is no difference',
      config: { ...REQUIRED, entryIDPrefix: 'x', entryIDPrefixCleanup: 'x.' },
      settings: {},
      problems: ['.entryIDPrefixCleanup is the same as .entryIDPrefix'],
    },
    {
      name: 'what the environment is to fill in is refused for nothing',
      config: {
        ...REQUIRED,
        clusterSPIFFEIDLabelSelector: { team: '${TEAM}' },
        gcInterval: '$GC',
        syncPeriod: '${SYNC}',
        apiVersion: 'spire.spiffe.io/v1alpha1',
      },
      settings: {},
    },
    {
      name: 'what is required and missing is said',
      config: {},
      settings: { trustDomain: undefined, clusterName: undefined },
      problems: [
        '.trustDomain is missing; SCM does not start without it',
        '.clusterName is missing; SCM does not start without it',
      ],
    },
    {
      name: 'a wrong type is said and counts as absent',
      config: {
        ...REQUIRED,
        watchClassless: 'yes',
        ignoreNamespaces: ['a', 7],
        cacheNamespaces: { a: 3 },
        reconcile: [],
      },
      settings: { watchClassless: false, ignoreNamespaces: ['a'], reconcileClusterSPIFFEIDs: true },
      problems: [
        '.reconcile is a list, not a mapping',
        '.cacheNamespaces["a"] is a number, not a mapping',
        '.watchClassless is a string, not true or false',
        '.ignoreNamespaces[1] is a number, not a string',
      ],
    },
    {
      name: 'no mapping at all',
      config: 'x',
      settings: { ignoreNamespaces: BUILT_IN_IGNORE_NAMESPACES },
      problems: [
        'the configuration is a string, not a mapping',
        '.trustDomain is missing; SCM does not start without it',
        '.clusterName is missing; SCM does not start without it',
      ],
    },
  ]
  test.each(rows)('$name', ({ config, settings, problems }) => {
    const found = readScmSettings(config, 'f.yaml', NO_EVIDENCE)
    expect(found.settings).toMatchObject(settings)
    expect(found.problems).toEqual(problems ?? [])
  })

  test("kleym's own trust domain stands in for a missing one, and is marked as assumed", () => {
    const { settings } = readScmSettings({ clusterName: 'c' }, 'f', { ...NO_EVIDENCE, trustDomain: 'td' })
    expect([settings.trustDomain, settings.assumed]).toEqual(['td', ['trustDomain']])
  })
})

describe('without a configuration', () => {
  test('the hardened chart is assumed, and every assumption is listed', () => {
    const { settings, problems } = readScmSettings(undefined, 'f', { ...NO_EVIDENCE, trustDomain: 'td' })
    expect(settings).toMatchObject({
      source: 'the SPIRE chart',
      assumed: ['trustDomain', 'className', 'watchClassless', 'ignoreNamespaces'],
      ignoreNamespaces: CHART_IGNORE_NAMESPACES,
      watchClassless: false,
    })
    expect(problems).toEqual([])
  })

  const rows: readonly [own: string | undefined, classes: readonly string[], found: string | undefined][] = [
    ['mine', ['other'], 'mine'],
    ['', ['spire-spire', '', 'spire-spire'], 'spire-spire'],
    [undefined, ['a', 'b'], undefined],
    [undefined, [''], undefined],
  ]
  test.each(rows)('own class %s and the classes %j give %s', (className, clusterSpiffeIdClasses, found) => {
    expect(assumedScmSettings({ trustDomain: 'td', className, clusterSpiffeIdClasses }).className).toBe(found)
  })
})
