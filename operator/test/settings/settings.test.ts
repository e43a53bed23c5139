// docs/contract.md §3 and the flags of the process: what is taken, and the one line for what is not.
import { describe, expect, test } from 'vitest'
import { keysOf } from '@kleym/shared/core/base/json.ts'
import { FLAGS, defaultOf } from '../../src/settings/flags.ts'
import { parseSettings, type Settings } from '../../src/settings/settings.ts'

const DOMAIN = '--trust-domain=example.org'

function settings(argv: readonly string[], env: Record<string, string> = {}): Settings {
  const parsed = parseSettings(argv, env)
  if (parsed.kind !== 'run') throw new Error(`not settings: ${JSON.stringify(parsed)}`)
  return parsed.settings
}

function problem(argv: readonly string[], env: Record<string, string> = {}): string {
  const parsed = parseSettings(argv, env)
  if (parsed.kind !== 'error') throw new Error(`no error: ${JSON.stringify(parsed)}`)
  return parsed.message
}

test('a trust domain is enough', () => {
  expect(settings([DOMAIN])).toEqual({
    trustDomain: 'example.org',
    className: '',
    takeOver: new Set(),
    classlessIgnored: false,
    outputLabels: new Map(),
    variantLabelKey: 'identity.kleym.sonda.red/variant',
    kubeconfig: undefined,
    context: undefined,
    workers: 8,
    writesPerSecond: 500,
    bindingsPerNamespace: 1_000,
    resyncMs: 36_000_000,
    lease: { namespace: undefined, leaseName: 'kleym-operator' },
    leaderElection: true,
    probes: { host: undefined, port: 8081 },
    metrics: { address: { host: undefined, port: 8080 }, tls: undefined },
    logLevel: 'info',
  })
})

test('every flag is read', () => {
  const argv = [
    '--trust-domain',
    'example.org',
    '--clusterspiffeid-class-name=spire-class',
    '--take-over=old/kleym-operator',
    '--take-over=older/kleym',
    '--classless-ignored',
    '--output-label=tier=gold',
    '--output-label',
    'example.org/team=',
    '--variant-label-key=llm-d.ai/role',
    '--kubeconfig',
    '/etc/kubeconfig',
    '--context=prod',
    '--workers=16',
    '--writes-per-second=0',
    '--bindings-per-namespace=50',
    '--resync-period=1h30m',
    '--leader-elect',
    '--leader-election-namespace=kleym-system',
    '--leader-election-lease-name=other',
    '--health-probe-bind-address=127.0.0.1:0',
    '--metrics-bind-address=[::1]:8443',
    '--metrics-secure',
    '--metrics-tls-cert-file=/tls/tls.crt',
    '--metrics-tls-key-file=/tls/tls.key',
    '--check=false',
    '--log-level=debug',
  ]
  const written = new Set(argv.map((argument) => argument.split('=', 1)[0]))
  expect(keysOf(FLAGS).filter((name) => !written.has(name))).toEqual([])
  expect(settings(argv)).toEqual({
    trustDomain: 'example.org',
    className: 'spire-class',
    takeOver: new Set(['old/kleym-operator', 'older/kleym']),
    classlessIgnored: true,
    outputLabels: new Map([
      ['tier', 'gold'],
      ['example.org/team', ''],
    ]),
    variantLabelKey: 'llm-d.ai/role',
    kubeconfig: '/etc/kubeconfig',
    context: 'prod',
    workers: 16,
    writesPerSecond: undefined,
    bindingsPerNamespace: 50,
    resyncMs: 5_400_000,
    lease: { namespace: 'kleym-system', leaseName: 'other' },
    leaderElection: true,
    probes: { host: '127.0.0.1', port: 0 },
    metrics: {
      address: { host: '::1', port: 8443 },
      tls: { certFile: '/tls/tls.crt', keyFile: '/tls/tls.key' },
    },
    logLevel: 'debug',
  })
})

describe('a flag and its variable', () => {
  const env = { KLEYM_TRUST_DOMAIN: 'env.org', KLEYM_CLUSTERSPIFFEID_CLASS_NAME: 'env-class' }

  test('the variable counts where the flag is not given', () => {
    expect(settings([], env)).toMatchObject({ trustDomain: 'env.org', className: 'env-class' })
  })

  test('the flag beats the variable', () => {
    const argv = [DOMAIN, '--clusterspiffeid-class-name=flag-class']
    expect(settings(argv, env)).toMatchObject({ trustDomain: 'example.org', className: 'flag-class' })
  })

  test.each([
    ['with an equals sign', ['--clusterspiffeid-class-name=']],
    ['as the next argument', ['--clusterspiffeid-class-name', '']],
  ])('an empty flag beats the variable: %s', (_, argv) => {
    expect(settings(argv, env).className).toBe('')
  })

  test('an empty trust domain is an error of the flag, though the variable is good', () => {
    expect(problem(['--trust-domain='], env)).toMatch(/^--trust-domain: the trust domain is not set/)
  })

  test('an error names the variable where the value is from there', () => {
    expect(problem([], { KLEYM_TRUST_DOMAIN: 'Example.org' })).toMatch(
      /^KLEYM_TRUST_DOMAIN=Example\.org: has "E"/,
    )
  })

  test('the last of a flag that is given twice counts', () => {
    expect(settings([DOMAIN, '--trust-domain=other.org']).trustDomain).toBe('other.org')
  })

  test('the namespace of the Lease falls back to that of the pod', () => {
    const pod = { POD_NAMESPACE: 'kleym-system' }
    expect(settings([DOMAIN], pod).lease.namespace).toBe('kleym-system')
    expect(settings([DOMAIN, '--leader-election-namespace=x'], pod).lease.namespace).toBe('x')
  })
})

describe('values', () => {
  test.each([
    ['--leader-elect=false', { leaderElection: false }],
    ['--metrics-bind-address=0', { metrics: undefined }],
    ['--health-probe-bind-address=0', { probes: undefined }],
    ['--resync-period=0', { resyncMs: undefined }],
    ['--resync-period=0s', { resyncMs: undefined }],
    ['--resync-period=1.5s', { resyncMs: 1500 }],
    ['--resync-period=250ms', { resyncMs: 250 }],
    ['--resync-period=576h', { resyncMs: 2_073_600_000 }],
    ['--workers=64', { workers: 64 }],
    ['--health-probe-bind-address=localhost:65535', { probes: { host: 'localhost', port: 65_535 } }],
    ['--kubeconfig=', { kubeconfig: undefined }],
  ])('%s', (flag, expected) => {
    expect(settings([DOMAIN, flag])).toMatchObject(expected)
  })
})

describe('one line says what is wrong', () => {
  test.each([
    [
      [],
      /^--trust-domain: the trust domain is not set.*; set --trust-domain or KLEYM_TRUST_DOMAIN to a name/,
    ],
    [['--trust-domain=spiffe://x'], /^--trust-domain=spiffe:\/\/x: has ":" at character 7; /],
    [['--trust-domain= x'], /^--trust-domain=" x": has " " at character 1; /],
    [['--trust-domain=x\n'], /^--trust-domain="x\\n": has "\\n" at character 2; /],
    [[`--trust-domain=${'a'.repeat(256)}`], /is over 255 characters/],
    [['--trust-domain'], /^--trust-domain: has no value; write --trust-domain=DOMAIN$/],
    [['--trust-domain', '--workers=3'], /^--trust-domain: has no value/],
    [
      [DOMAIN, '--take-over=kleym-system'],
      /^--take-over=kleym-system: is no install; give namespace and name of its Lease, such as kleym-system\/kleym-operator$/,
    ],
    [[DOMAIN, '--take-over=a/b/c'], /is no install/],
    [
      [DOMAIN, '--clusterspiffeid-class-name=x '],
      /^--clusterspiffeid-class-name="x ": begins or ends with a blank/,
    ],
    [[DOMAIN, '--clusterspiffeid-class-name=a\u0007b'], /holds a control character/],
    [[DOMAIN, '--workers=0'], /^--workers=0: .*; give a whole number from 1 to 64$/],
    [
      [DOMAIN, '--writes-per-second=-1'],
      /^--writes-per-second=-1: is no limit; give a whole number, or 0 for none$/,
    ],
    [[DOMAIN, '--workers=65'], /^--workers=65: /],
    [[DOMAIN, '--workers=1e1'], /^--workers=1e1: /],
    [[DOMAIN, '--workers='], /^--workers="": /],
    [
      [DOMAIN, '--resync-period=10'],
      /^--resync-period=10: .*; give one such as 10h, 30m or 1h30m, or 0 for never$/,
    ],
    [[DOMAIN, '--resync-period=1ms'], /^--resync-period=1ms: is no period from 100ms to 576h/],
    [[DOMAIN, '--resync-period=577h'], /^--resync-period=577h: /],
    [[DOMAIN, '--resync-period=-1h'], /^--resync-period=-1h: /],
    [[DOMAIN, '--leader-elect=yes'], /^--leader-elect=yes: is neither true nor false; give one of them$/],
    [[DOMAIN, '--leader-election-namespace=A'], /^--leader-election-namespace=A: is no name of a namespace/],
    [[DOMAIN, '--leader-election-lease-name=A_b'], /^--leader-election-lease-name=A_b: /],
    [
      [DOMAIN, '--health-probe-bind-address=8081'],
      /^--health-probe-bind-address=8081: is no address .*give HOST:PORT/,
    ],
    [[DOMAIN, '--health-probe-bind-address=:65536'], /^--health-probe-bind-address=:65536: /],
    [[DOMAIN, '--metrics-bind-address=::1:80'], /^--metrics-bind-address=::1:80: /],
    [
      [DOMAIN, '--metrics-secure'],
      /^--metrics-secure: needs a certificate and its key; set --metrics-tls-cert-file/,
    ],
    [[DOMAIN, '--metrics-tls-key-file=x'], /used only with --metrics-secure; add it$/],
    [
      [DOMAIN, '--log-level=trace'],
      /^--log-level=trace: is no log level; give one of debug, info, warn, error$/,
    ],
    [[DOMAIN, 'false'], /^"false": the operator takes flags only; remove it, or write --flag=value$/],
    [[DOMAIN, '--', 'x'], /^"--": the operator takes flags only/],
    [['--trust-domian=x'], /^"--trust-domian": there is no such flag; did you mean --trust-domain\?$/],
    [['-trust-domain=x'], /^"-trust-domain": there is no such flag; did you mean --trust-domain\?$/],
    [
      [DOMAIN, '--no-leader-elect'],
      /^"--no-leader-elect": there is no such flag; did you mean --leader-elect\?$/,
    ],
    [[DOMAIN, '--unheard-of-things'], /^"--unheard-of-things": there is no such flag; see --help$/],
    [[DOMAIN, '--__proto__=x'], /^"--__proto__": there is no such flag/],
    [[DOMAIN, '--bad\u001b[31m\n'], /^"--bad\\u001b\[31m\\n": there is no such flag/],
  ])('%j', (argv, expected) => {
    const message = problem(argv)
    expect(message).toMatch(expected)
    expect(message).not.toMatch(/\p{Cc}/u)
  })
})

describe('help and version', () => {
  test.each([['--help'], ['-h'], ['--workers=0', '--help']])('%s prints the help', (...argv) => {
    expect(parseSettings(argv, {}).kind).toBe('help')
  })

  test('--version is reported', () => {
    expect(parseSettings(['--version'], {})).toEqual({ kind: 'version' })
  })

  test.each([['--check'], ['--check=true']])('%s asks for a check of the same settings', (flag) => {
    expect(parseSettings([DOMAIN, flag], {})).toEqual({ ...parseSettings([DOMAIN], {}), kind: 'check' })
    expect(problem([flag])).toContain('the trust domain is not set')
  })

  test('the help names every flag, its default and its variable', () => {
    const parsed = parseSettings(['--help'], {})
    if (parsed.kind !== 'help') throw new Error('no help')
    for (const name of keysOf(FLAGS)) {
      expect(parsed.text).toContain(`  ${name}`)
      expect(parsed.text).toContain(defaultOf(name) ?? '')
    }
    for (const variable of ['KLEYM_TRUST_DOMAIN', 'KLEYM_CLUSTERSPIFFEID_CLASS_NAME', 'POD_NAMESPACE'])
      expect(parsed.text).toContain(`$${variable}`)
  })
})

test.each<readonly [argument: string, says: string]>([
  ['tier', 'has no equals sign; give KEY=VALUE'],
  ['-tier=gold', 'the key does not start with a letter or digit; give a label key of Kubernetes'],
  ['tier=-', 'the value does not start with a letter or digit; give a label value of Kubernetes'],
  ['kleym.sonda.red/managed-by=me', "the keys below kleym.sonda.red/ are kleym's own; give another key"],
  ['spire.spiffe.io/class-name=x', 'kleym sets this label to its class; set the class instead'],
])('--output-label=%s is refused', (argument, says) => {
  expect(problem([DOMAIN, `--output-label=${argument}`])).toBe(
    `--output-label=${argument === 'tier' ? argument : JSON.stringify(argument)}: ${says}`,
  )
})

test('two values for one output label are refused, and one value twice is none too many', () => {
  expect(problem([DOMAIN, '--output-label=tier=gold', '--output-label=tier=iron'])).toBe(
    '--output-label="tier=iron": tier is given the value "gold" too; give each key one value',
  )
  expect(settings([DOMAIN, '--output-label=tier=gold', '--output-label=tier=gold']).outputLabels).toEqual(
    new Map([['tier', 'gold']]),
  )
})

const VARIABLE = 'KLEYM_VARIANT_LABEL_KEY'
const LONGEST_KEY = `${'k'.repeat(179)}/${'n'.repeat(63)}`

test.each([
  ['neither', [], {}, 'identity.kleym.sonda.red/variant'],
  ['the variable', [], { [VARIABLE]: 'llm-d.ai/role' }, 'llm-d.ai/role'],
  ['an empty variable', [], { [VARIABLE]: '' }, 'identity.kleym.sonda.red/variant'],
  ['both: the flag', ['--variant-label-key=role'], { [VARIABLE]: 'llm-d.ai/role' }, 'role'],
  ['the longest key with room for a value', [`--variant-label-key=${LONGEST_KEY}`], {}, LONGEST_KEY],
])('the label key of variants, given %s', (_name, argv, env, key) => {
  expect(settings([DOMAIN, ...argv], env).variantLabelKey).toBe(key)
})

test.each([
  ['', '"": is empty'],
  ['llm-d.ai/role/x', 'llm-d.ai/role/x: has more than one slash'],
  ['LLM-D.ai/role', 'LLM-D.ai/role: has a prefix that is no lower-case DNS name'],
  [' role', '" role": has " " at character 1; only letters, digits, "-", "_" and "." are allowed there'],
  [`k${LONGEST_KEY}`, `k${LONGEST_KEY}: has 244 bytes, which leaves no room for a value: 243 is the most`],
])('--variant-label-key=%s is refused', (key, says) => {
  expect(problem([DOMAIN, `--variant-label-key=${key}`], { [VARIABLE]: 'fine' })).toBe(
    `--variant-label-key=${says}; give the key of the pod label, such as llm-d.ai/role`,
  )
})

test('a bad variable is named', () => {
  expect(problem([DOMAIN], { [VARIABLE]: 'a b' })).toContain('KLEYM_VARIANT_LABEL_KEY="a b": has " "')
})
