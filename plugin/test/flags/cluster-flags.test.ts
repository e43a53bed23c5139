// kubectl's generic flags as options: names, paths, durations, and whom to impersonate.
import { describe, expect, test } from 'vitest'
import { isEmpty } from '@kleym/shared/kube/overrides.ts'
import { clusterFlags, clusterOptions, type ClusterFlags } from '../../src/flags/cluster-flags.ts'
import { KleymError } from '../../src/io/errors.ts'

const CWD = '/work folder'
const options = (flags: ClusterFlags) => clusterOptions(flags, CWD)

function refusal(flags: ClusterFlags): KleymError {
  try {
    options(flags)
  } catch (error) {
    if (error instanceof KleymError) return error
  }
  throw new Error('the flags were taken')
}

test('the flags have the names of kubectl, and the one short name', () => {
  expect(Object.keys(clusterFlags).toSorted()).toEqual([
    'as',
    'as-group',
    'as-uid',
    'certificate-authority',
    'client-certificate',
    'client-key',
    'cluster',
    'context',
    'insecure-skip-tls-verify',
    'kubeconfig',
    'request-timeout',
    'server',
    'tls-server-name',
    'token',
    'user',
  ])
  const short = Object.entries(clusterFlags).flatMap(([name, { char }]) =>
    char === undefined ? [] : [[char, name]],
  )
  expect(short).toEqual([['s', 'server']])
})

test.each<[string, ClusterFlags]>([
  ['nothing', {}],
  [
    'empty values, as kubectl has them',
    {
      kubeconfig: '',
      context: '',
      server: '',
      token: '',
      as: '',
      'as-group': [],
      'client-key': '',
      'request-timeout': '',
    },
  ],
])('%s changes nothing', (_says, flags) => {
  const { kubeconfigPath, context, overrides, timeoutMs } = options(flags)
  expect([kubeconfigPath, context, timeoutMs]).toEqual([undefined, undefined, undefined])
  expect(isEmpty(overrides)).toBe(true)
})

test.each<[ClusterFlags, object]>([
  [{ kubeconfig: 'dev/config' }, { kubeconfigPath: `${CWD}/dev/config` }],
  [{ kubeconfig: '/etc/config' }, { kubeconfigPath: '/etc/config' }],
  [{ context: 'dev' }, { context: 'dev' }],
  [{ cluster: 'c' }, { overrides: { cluster: 'c' } }],
  [{ user: 'u' }, { overrides: { user: 'u' } }],
  [{ server: 'https://x' }, { overrides: { server: 'https://x' } }],
  [{ token: 't' }, { overrides: { token: 't' } }],
  [{ as: 'her' }, { overrides: { as: 'her' } }],
  [{ as: 'her', 'as-group': ['a', 'b'] }, { overrides: { as: 'her', asGroups: ['a', 'b'] } }],
  [{ as: 'her', 'as-uid': '7' }, { overrides: { as: 'her', asUid: '7' } }],
  [{ 'certificate-authority': 'ca.crt' }, { overrides: { certificateAuthority: `${CWD}/ca.crt` } }],
  [{ 'client-certificate': '../c.crt' }, { overrides: { clientCertificate: '/c.crt' } }],
  [{ 'client-key': 'c.key' }, { overrides: { clientKey: `${CWD}/c.key` } }],
  [{ 'insecure-skip-tls-verify': true }, { overrides: { insecureSkipTlsVerify: true } }],
  [{ 'tls-server-name': 'x.test' }, { overrides: { tlsServerName: 'x.test' } }],
])('%o', (flags, told) => {
  expect(options(flags)).toMatchObject(told)
})

const FOR_EVER = 2 ** 31 - 1

describe('--request-timeout', () => {
  test.each([
    ['10s', 10_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['5', 5000],
    ['0', FOR_EVER],
    ['0s', FOR_EVER],
    ['9999h', FOR_EVER],
    ['99999999999', FOR_EVER],
    ['1µs', 1],
    ['1ns', 1],
  ])('%s is %i ms', (written, ms) => {
    expect(options({ 'request-timeout': written }).timeoutMs).toBe(ms)
  })

  test.each(['x', '-1', '-1s', '10 s', '1.5', '-1ns'])('%s is refused', (written) => {
    expect(refusal({ 'request-timeout': written })).toMatchObject({
      code: 'usage',
      exitCode: 2,
      where: `--request-timeout ${written}`,
    })
  })
})

describe('without a user to impersonate', () => {
  test.each<[string, ClusterFlags]>([
    ['--as-group', { 'as-group': ['admins'] }],
    ['--as-uid', { 'as-uid': '7' }],
    ['--as-group', { as: '', 'as-group': ['admins'], 'as-uid': '7' }],
  ])('%s is refused: else the request would be made as ourselves', (where, flags) => {
    expect(refusal({ ...flags, token: 's3cret' })).toMatchObject({ code: 'usage', where })
    expect(JSON.stringify(refusal({ ...flags, token: 's3cret' }))).not.toContain('s3cret')
  })
})

test.each<[string, ClusterFlags]>([
  ['--as', { as: 'her\nX-Injected: yes' }],
  ['--as-group', { as: 'her', 'as-group': ['a', 'b\r'] }],
  ['--as-uid', { as: 'her', 'as-uid': '7\u0000' }],
  ['--token', { token: 's3cret\n' }],
])('%s with a line break or the like is wrong usage, and is not printed', (flag, flags) => {
  const error = refusal(flags)
  expect(error).toMatchObject({ exitCode: 2, what: `the value of ${flag} cannot be sent`, where: flag })
  expect(JSON.stringify(error)).not.toMatch(/s3cret|Injected/)
})
