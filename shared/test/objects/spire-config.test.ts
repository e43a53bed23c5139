// The configuration of SPIRE's own programs, in HCL as its documentation has it and in JSON as its charts write it.
import { expect, test } from 'vitest'
import {
  blocksAt,
  namesAt,
  readSpireConfig,
  secondsBelow,
  textsAt,
  textsBelow,
} from '../../src/core/model/objects/spire-config.ts'

const HCL = `
agent {
  trust_domain = "example.org" # a comment with "quotes and {
  server_port = 8081
  /* NodeAttestor "join_token" {} */
}
plugins {
  NodeAttestor "k8s_psat" { plugin_data { cluster = "$\{CLUSTER}" } }
  WorkloadAttestor "k8s" { plugin_data { skip_kubelet_verification = true } } // the kubelet
  WorkloadAttestor unix { plugin_data {} }
}
`
const JSON_TEXT = JSON.stringify({
  plugins: {
    NodeAttestor: [
      {
        k8s_psat: {
          plugin_data: { clusters: [{ a: { service_account_allow_list: ['x:y', 'x:z'] } }, { b: {} }] },
        },
      },
    ],
    WorkloadAttestor: { k8s: { plugin_data: {} }, unix: { plugin_data: {} } },
  },
})

const PSAT = ['plugins', 'NodeAttestor', 'k8s_psat', 'plugin_data']

test('a configuration is read in HCL', () => {
  const config = readSpireConfig(HCL) ?? []
  expect(namesAt(config, 'plugins', 'NodeAttestor')).toEqual(['k8s_psat'])
  expect(namesAt(config, 'plugins', 'WorkloadAttestor')).toEqual(['k8s', 'unix'])
  expect(blocksAt(config, ...PSAT).flatMap((one) => textsAt(one, 'cluster'))).toEqual([
    '$'.concat('{CLUSTER}'),
  ])
  expect(blocksAt(config, 'agent').flatMap((one) => textsAt(one, 'server_port'))).toEqual(['8081'])
})

test('a configuration is read in JSON, where a list of blocks counts as its blocks', () => {
  const config = readSpireConfig(JSON_TEXT) ?? []
  expect(namesAt(config, 'plugins', 'WorkloadAttestor')).toEqual(['k8s', 'unix'])
  expect(namesAt(config, ...PSAT, 'clusters')).toEqual(['a', 'b'])
  expect(
    blocksAt(config, ...PSAT, 'clusters', 'a').flatMap((one) => textsAt(one, 'service_account_allow_list')),
  ).toEqual(['x:y', 'x:z'])
})

test('a key is found in whatever block it is', () => {
  const config = readSpireConfig(HCL) ?? []
  expect(textsBelow(config, 'skip_kubelet_verification')).toEqual(['true'])
  expect(textsBelow(config, 'trust_domain')).toEqual(['example.org'])
  expect(textsBelow(config, 'nothing')).toEqual([])
  const timed = readSpireConfig('agent { a = "1m30s" b = "soon" }') ?? []
  expect(['a', 'b', 'c'].map((key) => secondsBelow(timed, key))).toEqual([90, undefined, undefined])
})

test.each<[what: string, text: string]>([
  ['a block that does not end', 'plugins { NodeAttestor'],
  ['a text that does not end', 'a = "b'],
  ['a sign alone', 'a = }'],
  ['JSON with something behind it', '{} a = 1'],
  ['more levels than any configuration has', `${'a {'.repeat(10_000)}${'}'.repeat(10_000)}`],
  ['lists of more levels', `a = ${'['.repeat(10_000)}`],
  ['labels of more levels', 'a '.repeat(10_000)],
])('%s is not understood', (_what, text) => {
  expect(readSpireConfig(text)).toBeUndefined()
})

test('a hostile text costs no more than its length: more would not end', () => {
  const hostile = ['/*', '/* */', '"', '$'.concat('{'), '#', '\\', '{', ' ,']
  const isRead = hostile.map((text) => readSpireConfig(text.repeat(200_000)) !== undefined)
  expect(isRead).toEqual([false, true, false, false, true, false, false, true])
}, 60_000)
