// docs/contract.md §8, "How it is written": the whole spec is compared; other people's labels and annotations stay.
import { describe, expect, test } from 'vitest'
import { deepEqual } from '../../src/core/base/json.ts'
import {
  binding,
  estate,
  got,
  live,
  outputOf,
  settledCluster,
  type SettledCluster,
} from '@kleym/testing/manifests.ts'

const OUTPUT = outputOf(estate(binding()))
const NAME = OUTPUT.metadata.name

const driftIn = (one: SettledCluster): unknown => {
  const [action] = one.settled.changes
  return action?.kind === 'update' ? action.drift : action?.kind
}

describe('drift', () => {
  const selectors = OUTPUT.spec.workloadSelectorTemplates
  test.each<[string, Parameters<typeof live>[1], readonly string[]]>([
    ['admin', { spec: { admin: true } }, ['.spec.admin']],
    ['admin: false, which is not rendered either', { spec: { admin: false } }, ['.spec.admin']],
    ['downstream', { spec: { downstream: true } }, ['.spec.downstream']],
    ['federation', { spec: { federatesWith: ['other.org'] } }, ['.spec.federatesWith']],
    [
      'a TTL and DNS names, in byte order',
      { spec: { ttl: '1h', dnsNameTemplates: ['a'], autoPopulateDNSNames: true } },
      ['.spec.autoPopulateDNSNames', '.spec.dnsNameTemplates', '.spec.ttl'],
    ],
    ['a field that kleym does not know', { spec: { newField: 1 } }, ['.spec.newField']],
    ['a class that is not configured', { spec: { className: 'x' } }, ['.spec.className']],
    ['fallback', { spec: { fallback: true } }, ['.spec.fallback']],
    ['no fallback', { spec: { fallback: undefined } }, ['.spec.fallback']],
    ['no namespace selector', { spec: { namespaceSelector: undefined } }, ['.spec.namespaceSelector']],
    [
      'a namespace selector with an expression',
      { spec: { namespaceSelector: { ...OUTPUT.spec.namespaceSelector, matchExpressions: [] } } },
      ['.spec.namespaceSelector'],
    ],
    [
      'a pod selector with one label more',
      { spec: { podSelector: { matchLabels: { app: 'llama', b: 'c' } } } },
      ['.spec.podSelector'],
    ],
    ['a template', { spec: { spiffeIDTemplate: 'spiffe://{{.TrustDomain}}/x' } }, ['.spec.spiffeIDTemplate']],
    [
      'selectors in another order',
      { spec: { workloadSelectorTemplates: selectors.toReversed() } },
      ['.spec.workloadSelectorTemplates'],
    ],
    [
      'a selector twice',
      { spec: { workloadSelectorTemplates: [...selectors, 'k8s:sa:runner'] } },
      ['.spec.workloadSelectorTemplates'],
    ],
    ['a hint', { spec: { hint: 'other' } }, ['.spec.hint']],
    [
      'our label',
      { labels: { 'kleym.sonda.red/managed-by': 'helm' } },
      ['.metadata.labels["kleym.sonda.red/managed-by"]'],
    ],
    [
      'our label removed',
      { labels: { 'kleym.sonda.red/binding-name': undefined } },
      ['.metadata.labels["kleym.sonda.red/binding-name"]'],
    ],
  ])('%s is put back', (_name, change, paths) => {
    const one = settledCluster(estate(binding(), live(OUTPUT, change)))
    expect(driftIn(one)).toEqual(paths)
    expect(one.settled.outputs[0]?.object.rawSpec).toEqual(OUTPUT.spec)
    expect(one.settled.atRest).toBe(true)
  })

  test("other people's labels and annotations stay", () => {
    const theirs = { labels: { team: 'x' }, annotations: { 'example.org/note': 'y' } }
    expect(driftIn(settledCluster(estate(binding(), live(OUTPUT, theirs))))).toBeUndefined()
    const repaired = settledCluster(estate(binding(), live(OUTPUT, { ...theirs, spec: { admin: true } })))
    const { meta } = got(repaired.settled.outputs[0]).object
    expect(meta.labels.get('team')).toBe('x')
    expect(meta.annotations.get('example.org/note')).toBe('y')
    expect(meta.uid).toBe(`uid-of-${NAME}`)
  })

  test('the order of keys is no drift', () => {
    const reversed = Object.fromEntries(Object.entries(OUTPUT.spec).toReversed())
    expect(driftIn(settledCluster(estate(binding(), { ...live(OUTPUT), spec: reversed })))).toBeUndefined()
  })

  test.each<[unknown, unknown, boolean]>([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: undefined }, {}, false],
    [{ a: 1 }, { b: 1 }, false],
    [null, {}, false],
    [{}, [], false],
    [JSON.parse('{"__proto__": 1}'), {}, false],
    [{}, JSON.parse('{"__proto__": {}}'), false],
    ['1', 1, false],
  ])('%j equals %j: %s', (left, right, expected) => {
    expect(deepEqual(left, right)).toBe(expected)
  })
})
