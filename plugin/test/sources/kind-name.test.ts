import { describe, expect, test } from 'vitest'
import { KleymError } from '../../src/io/errors.ts'
import { kindNamed, parseObjectName } from '../../src/sources/kind-name.ts'

describe('the object of --without', () => {
  test.each([
    ['a short name', 'iib/team-a/chat', 'InferenceIdentityBinding', undefined, 'team-a', 'chat'],
    [
      'the kind as manifests write it',
      'ClusterSPIFFEID/default',
      'ClusterSPIFFEID',
      undefined,
      undefined,
      'default',
    ],
    ['a plural in another case', 'Pods/a/b', 'Pod', undefined, 'a', 'b'],
    [
      'a group',
      'inferencepool.inference.networking.k8s.io/a/b',
      'InferencePool',
      'inference.networking.k8s.io',
      'a',
      'b',
    ],
    ['dots in a name', 'clusterspiffeid/a.b', 'ClusterSPIFFEID', undefined, undefined, 'a.b'],
  ])('%s', (_, text, kind, group, namespace, name) => {
    expect(parseObjectName(text, '--without')).toEqual({ kind, group, namespace, name })
  })

  test.each([
    ['no slash', 'pod', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['too many parts', 'pod/a/b/c', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['an empty part', 'pod//b', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    ['nothing', '', 'it is not KIND[.GROUP]/[NAMESPACE/]NAME', 'write it like'],
    [
      'a slip in the kind',
      'inferencepol/a/b',
      'kleym reads no kind inferencepol',
      'did you mean inferencepool?',
    ],
    ['another kind', 'secret/a/b', 'kleym reads no kind secret', 'name one of'],
    ['a property of every object', '__proto__/a', 'kleym reads no kind __proto__', 'name one of'],
  ])('%s is wrong usage', (_, text, why, fix) => {
    const attempt = (): unknown => parseObjectName(text, '--without')
    expect(attempt).toThrow(KleymError)
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'usage', where: text, why, fix: expect.stringContaining(fix) }),
    )
  })
})

test('a name says where it comes from when it is wrong', () => {
  expect(() => parseObjectName('x', 'the argument')).toThrow('cannot tell which object the argument means')
})

test('kinds are found by every name that kubectl takes', () => {
  expect(['po', 'pod', 'PODS', 'Pod'].map(kindNamed)).toEqual(['Pod', 'Pod', 'Pod', 'Pod'])
  expect(['iib', 'binding'].map(kindNamed)).toEqual(['InferenceIdentityBinding', 'InferenceIdentityBinding'])
  expect(kindNamed('constructor')).toBeUndefined()
})
