// docs/spire-facts.md §11.11: what SCM's render cache does to objects with constants and with definitions, where it is on, off,
// and where nobody says which.
import { describe, expect, test } from 'vitest'
import { assumedScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { csid, predicted, verdictsOf, whyOf, type Fields } from './estate.ts'

const ID = 'spiffe://td'
const ON = { enableEntryRenderCache: true }
const DEFAULT = csid('z', { fallback: true, spiffeIDTemplate: `${ID}/default` })
/** Main parts that are equal, over definitions that are not. */
const TWINS = [
  csid('a', { spiffeIDTemplate: `{{ define "t" }}one{{ end }}${ID}/{{ template "t" }}` }),
  csid('b', { spiffeIDTemplate: `{{ define "t" }}two{{ end }}${ID}/{{ template "t" }}` }),
]

describe('a constant', () => {
  test.each<[string, Fields]>([
    ['a number in the ID', { spiffeIDTemplate: `${ID}/{{ slice .PodMeta.Name 0 }}` }],
    ['a character in the ID', { spiffeIDTemplate: `${ID}/{{ printf "%c" 'x' }}` }],
    ['a number in a selector', { workloadSelectorTemplates: ['k8s:ns:{{ slice .PodMeta.Namespace 0 }}'] }],
    ['a number in a DNS name', { dnsNameTemplates: ['{{ slice .PodMeta.Name 0 }}'] }],
  ])('%s: SCM drops the object, and the fallback applies', (_, spec) => {
    const ids = [csid('a', spec), DEFAULT]
    expect(verdictsOf(predicted({ ids }))).toEqual(['a: declared', 'z: displaced'])
    expect(verdictsOf(predicted({ ids, config: ON }))).toEqual(['a: failed', 'z: declared'])
    expect(whyOf(predicted({ ids, config: ON }), 'a')).toMatch(/holds a number or a character constant/)
  })

  test.each<[string, Fields]>([
    ['a truth value', { spiffeIDTemplate: `${ID}/{{ and true .PodMeta.Name }}` }],
    ['a text', { spiffeIDTemplate: `${ID}/{{ print "1" }}` }],
  ])('%s is none', (_, spec) => {
    expect(verdictsOf(predicted({ ids: [csid('a', spec), DEFAULT], config: ON }))).toEqual([
      'a: declared',
      'z: displaced',
    ])
  })

  test('one within a definition alone is not part of what SCM compares', () => {
    const spiffeIDTemplate = `{{ define "t" }}{{ slice .PodMeta.Name 0 }}{{ end }}${ID}/{{ template "t" . }}`
    expect(verdictsOf(predicted({ ids: [csid('a', { spiffeIDTemplate })], config: ON }))).toEqual([
      'a: depends',
    ])
  })

  test('an object that SCM does not handle anyway is ignored', () => {
    const ids = [csid('a', { spiffeIDTemplate: `${ID}/{{ slice .PodMeta.Name 0 }}`, className: 'other' })]
    expect(verdictsOf(predicted({ ids, config: ON }))).toEqual(['a: ignored'])
  })
})

describe('a definition', () => {
  test('which of two objects gets its entry is not known, and neither is the fallback', () => {
    expect(verdictsOf(predicted({ ids: [...TWINS, DEFAULT] }))).toEqual([
      'a: declared',
      'b: declared',
      'z: displaced',
    ])
    expect(verdictsOf(predicted({ ids: [...TWINS, DEFAULT], config: ON }))).toEqual([
      'a: depends',
      'b: depends',
      'z: depends',
    ])
  })

  test('that is called and not there may be the one of another object', () => {
    const ids = [csid('a', { spiffeIDTemplate: `${ID}/{{ template "t" }}` })]
    expect(verdictsOf(predicted({ ids }))).toEqual(['a: failed'])
    expect(verdictsOf(predicted({ ids, config: ON }))).toEqual(['a: depends'])
  })

  test('in the ID alone leaves it open beside a plain DNS name and a plain selector', () => {
    const plain = { dnsNameTemplates: ['{{ .PodMeta.Name }}'], workloadSelectorTemplates: ['k8s:ns:team-a'] }
    const called = csid('a', {
      ...plain,
      spiffeIDTemplate: `{{ define "t" }}one{{ end }}${ID}/{{ template "t" }}`,
    })
    expect(verdictsOf(predicted({ ids: [called], config: ON }))).toEqual(['a: depends'])
    // SCM renders none of it, and may find the entry of another object in its cache.
    const failing = csid('a', { ...plain, spiffeIDTemplate: `${ID}/{{ template "t" }}` })
    expect(verdictsOf(predicted({ ids: [failing], config: ON }))).toEqual(['a: depends'])
  })

  test('over a main part without actions changes nothing', () => {
    const ids = [csid('a', { spiffeIDTemplate: `{{ define "t" }}one{{ end }}${ID}/x` })]
    expect(verdictsOf(predicted({ ids, config: ON }))).toEqual(['a: declared'])
  })
})

test('where the configuration of SCM is not known, what the cache would change is open', () => {
  const settings = {
    ...assumedScmSettings({ trustDomain: 'td', className: 'x', clusterSpiffeIdClasses: [] }),
    clusterName: 'c1',
  }
  const className = 'x'
  const number = csid('a', { className, spiffeIDTemplate: `${ID}/{{ slice .PodMeta.Name 0 }}` })
  const plain = csid('b', { className, spiffeIDTemplate: `${ID}/plain/{{ .PodMeta.Name }}` })
  expect(verdictsOf(predicted({ ids: [number, plain], settings }))).toEqual(['a: depends', 'b: declared'])
  expect(whyOf(predicted({ ids: [number], settings }), 'a')).toMatch(
    /whether enableEntryRenderCache is set is not known/,
  )
  expect(
    predicted({ ids: [number], settings }).prediction.objects.get('ClusterSPIFFEID/a')?.handling.state,
  ).toBe('unknown')
})
