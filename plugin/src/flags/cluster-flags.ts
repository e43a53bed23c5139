// kubectl's generic flags, with its names and meanings: which cluster, and as which user.
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_options/
import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { REPEATABLE } from './repeatable.ts'
import type { ClusterOverrides } from '@kleym/shared/kube/overrides.ts'
import { isHeaderValue } from '@kleym/shared/kube/headers.ts'
import { parseGoDuration } from '@kleym/shared/core/base/go/duration.ts'
import { KleymError } from '../io/errors.ts'

const CLUSTER = 'CLUSTER'

const text = (helpValue: string, description: string, char?: 's') =>
  Flags.string({ helpGroup: CLUSTER, helpValue, description, ...(char === undefined ? {} : { char }) })

/** The flags of every command that can read a cluster. */
export const clusterFlags = {
  kubeconfig: text('FILE', 'The kubeconfig to read, instead of KUBECONFIG and ~/.kube/config.'),
  context: text('NAME', 'The context of the kubeconfig.'),
  cluster: text('NAME', 'The cluster of the kubeconfig.'),
  user: text('NAME', 'The user of the kubeconfig.'),
  server: text('URL', 'The address of the API server.', 's'),
  token: text('TOKEN', 'A bearer token.'),
  as: text('USER', 'The user to impersonate.'),
  'as-group': Flags.string({
    helpGroup: CLUSTER,
    helpValue: 'GROUP',
    description: 'A group to impersonate. Repeatable.',
    ...REPEATABLE,
  }),
  'as-uid': text('UID', 'The UID to impersonate.'),
  'certificate-authority': text('FILE', "The CA of the API server's certificate."),
  'client-certificate': text('FILE', 'A client certificate.'),
  'client-key': text('FILE', 'The key of the client certificate.'),
  'insecure-skip-tls-verify': Flags.boolean({
    helpGroup: CLUSTER,
    description:
      'Trust any certificate that the API server shows: answers may then come from another server.',
  }),
  'tls-server-name': text('NAME', "The name that the API server's certificate must have."),
  'request-timeout': text('DURATION', 'How long one request may take, such as 10s; 0 means no limit.'),
}

/** The values of `clusterFlags`, as oclif parses them. */
export type ClusterFlags = {
  readonly [Name in keyof typeof clusterFlags]?: InferredFlags<typeof clusterFlags>[Name] | undefined
}

/** Which cluster a command reads, and as whom. */
export interface ClusterOptions {
  readonly kubeconfigPath: string | undefined
  readonly context: string | undefined
  readonly overrides: ClusterOverrides
  /** How long one request may take, in milliseconds; undefined: the client's own default. */
  readonly timeoutMs: number | undefined
}

/** An empty value is none, as for kubectl. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

/** What the flags say; relative paths are of the working directory. Throws a usage error. */
export function clusterOptions(flags: ClusterFlags, cwd: string): ClusterOptions {
  const path = (value: string | undefined): string | undefined =>
    given(value) === undefined ? undefined : resolve(cwd, value ?? '')
  const groups = flags['as-group'] ?? []
  requireImpersonated(flags)
  requireSendable(flags)
  return {
    kubeconfigPath: path(flags.kubeconfig),
    context: given(flags.context),
    overrides: {
      cluster: given(flags.cluster),
      user: given(flags.user),
      server: given(flags.server),
      token: given(flags.token),
      as: given(flags.as),
      asGroups: groups.length === 0 ? undefined : groups,
      asUid: given(flags['as-uid']),
      certificateAuthority: path(flags['certificate-authority']),
      clientCertificate: path(flags['client-certificate']),
      clientKey: path(flags['client-key']),
      insecureSkipTlsVerify: flags['insecure-skip-tls-verify'],
      tlsServerName: given(flags['tls-server-name']),
    },
    timeoutMs: timeoutOf(given(flags['request-timeout'])),
  }
}

/** Groups and a UID are sent beside the name of a user: without one, the request would be refused, or made as ourselves. */
function requireImpersonated({ as = '', 'as-group': groups = [], 'as-uid': uid = '' }: ClusterFlags): void {
  if (as !== '' || (groups.length === 0 && uid === '')) return
  throw new KleymError('usage', {
    what: 'cannot tell whom to impersonate',
    where: groups.length === 0 ? '--as-uid' : '--as-group',
    why: 'groups and a UID belong to a user, and none is given',
    fix: 'add --as USER',
  })
}

/** These go into the headers of every request. */
function requireSendable({
  token = '',
  as = '',
  'as-group': groups = [],
  'as-uid': uid = '',
}: ClusterFlags): void {
  const values = [
    ['--token', token],
    ['--as', as],
    ...groups.map((group) => ['--as-group', group]),
    ['--as-uid', uid],
  ]
  for (const [flag = '', value = ''] of values) {
    if (isHeaderValue(value)) continue
    throw new KleymError('usage', {
      what: `the value of ${flag} cannot be sent`,
      // Neither a token nor what stands on further lines belongs in a log.
      where: flag,
      why: 'it holds a control character such as a line break',
      fix: `write it on one line: ${flag}=VALUE`,
    })
  }
}

/** The longest that a timer can wait: 24 days. */
const FOR_EVER_MS = 2 ** 31 - 1
const NANOSECONDS_PER_MS = 1_000_000

/** As kubectl: whole seconds, or a duration of Go; 0 is for ever. */
function timeoutOf(written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const ms = /^\d+$/.test(written) ? Number(written) * 1000 : durationMs(written)
  if (ms === undefined || ms < 0)
    throw new KleymError('usage', {
      what: 'the timeout is not valid',
      where: `--request-timeout ${written}`,
      why: 'it is a number of seconds, or a duration such as 500ms, 10s or 1m30s',
      fix: 'write it like --request-timeout=10s',
    })
  return ms === 0 ? FOR_EVER_MS : Math.min(Math.ceil(ms), FOR_EVER_MS)
}

function durationMs(written: string): number | undefined {
  const parsed = parseGoDuration(written)
  return parsed.ok ? Number(parsed.nanoseconds) / NANOSECONDS_PER_MS : undefined
}
