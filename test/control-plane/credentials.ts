// Who is who on a control plane: tokens of named users, and kubeconfig files that carry one.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { stringify } from 'yaml'

/** A member of `system:masters`: everything is allowed. */
export const ADMIN = 'admin'
export const CONTROLLER_MANAGER = 'kube-controller-manager'

/** A user that the API server knows by a token. RBAC decides what it may do: nothing, unless a binding says more. */
export interface User {
  readonly name: string
  readonly groups?: readonly string[]
}

/** The tokens of users, by name. */
export type Tokens = ReadonlyMap<string, string>

/** Makes up tokens and writes the file for `--token-auth-file`. */
export function writeTokens(file: string, users: readonly User[]): Tokens {
  const all: readonly User[] = [
    { name: ADMIN, groups: ['system:masters'] },
    { name: CONTROLLER_MANAGER, groups: ['system:masters'] },
    ...users,
  ]
  const tokens = new Map(all.map(({ name }) => [name, randomBytes(16).toString('hex')]))
  const rows = all.map(
    ({ name, groups = [] }) => `${tokens.get(name) ?? ''},"${name}","uid-of-${name}","${groups.join(',')}"\n`,
  )
  writeFileSync(file, rows.join(''), { mode: 0o600 })
  return tokens
}

export interface KubeconfigContent {
  readonly server: string
  /** PEM. */
  readonly ca: string
  readonly user: string
  readonly token: string
  readonly namespace?: string
}

/** Writes a kubeconfig file of one cluster, user and context. */
export function writeKubeconfig(file: string, content: KubeconfigContent): void {
  const { server, ca, user, token, namespace } = content
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [
      {
        name: 'test',
        cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [
      {
        name: 'test',
        context: { cluster: 'test', user, ...(namespace === undefined ? {} : { namespace }) },
      },
    ],
  }
  writeFileSync(file, stringify(config), { mode: 0o600 })
}
