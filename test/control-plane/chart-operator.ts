// What a kubelet would make of the chart's pods, as there is none here: the shipped executable with exactly the arguments
// and the environment of a pod template, as its service account. A path in a mounted Secret is a path in a folder.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord, listAt, own, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { EXECUTABLE } from './operator.ts'
import type { Program, ProgramStart } from './processes.ts'
import { CannotHold, until } from '@kleym/testing/wait.ts'

export interface DeployedOperator {
  readonly program: Program
  /** Resolves when it leads and works. */
  leads(): Promise<void>
  /** SIGTERM; resolves with how it ended, e.g. `exit code 0`. */
  stop(): Promise<string>
}

export interface DeployOptions {
  /** A proxy in place of the API server's own address. */
  readonly server?: string
}

/** Runs the only container of the release's Deployment. */
export async function startDeployed(
  cp: ControlPlane,
  namespace: string,
  { server }: DeployOptions = {},
): Promise<DeployedOperator> {
  const deployment = await cp.admin.get({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: 'kleym-operator',
    namespace,
  })
  const start = await containerStart(cp, own(own(own(deployment, 'spec'), 'template'), 'spec'), {
    namespace,
    ...(server === undefined ? {} : { server }),
  })
  const before = leadingLines(join(cp.folder, `${start.name}.log`))
  const program = await cp.start(start)
  return {
    program,
    leads: async () => {
      await until(() => {
        const how = program.ended()
        if (how !== undefined) throw new CannotHold(`it has ended: ${how}\n${program.lastWords()}`)
        return leadingLines(program.log) > before
      }, 'the operator to lead')
    },
    stop: async () => {
      await program.signal('SIGTERM')
      await program.end()
      return program.ended() ?? ''
    },
  }
}

/** Where a pod that is to have a token of its service account has it. */
export const TOKEN_MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** How the only container of a pod is started. */
export async function containerStart(
  cp: ControlPlane,
  pod: unknown,
  { namespace, server }: DeployOptions & { readonly namespace: string },
): Promise<ProgramStart> {
  const [container, ...others] = listAt(pod, 'containers')
  if (!isRecord(container) || others.length > 0) throw new TypeError('the pod has not one container')
  const mounts = await mountsOf(cp, { pod, container, namespace })
  const account = stringAt(pod, 'serviceAccountName') ?? 'default'
  return {
    name: stringAt(container, 'name') ?? '',
    command: EXECUTABLE,
    args: listAt(container, 'args').map((arg) => underMounts(String(arg), mounts)),
    env: {
      ...environmentOf(container, namespace),
      // In place of the token and the CA that a kubelet mounts.
      KUBECONFIG: await cp.kubeconfigForServiceAccount(namespace, account, server),
    },
  }
}

function environmentOf(container: JsonRecord, namespace: string): Readonly<Record<string, string>> {
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': 'kleym-operator-0',
    'metadata.namespace': namespace,
  }
  return Object.fromEntries(
    listAt(container, 'env').map((variable) => {
      const field = stringAt(variable, 'valueFrom', 'fieldRef', 'fieldPath')
      const value = field === undefined ? stringAt(variable, 'value') : fields[field]
      if (value === undefined) throw new TypeError(`the test has no value for ${JSON.stringify(variable)}`)
      return [stringAt(variable, 'name') ?? '', value]
    }),
  )
}

type Mounts = ReadonlyMap<string, string>

/** The folder that stands for each mount path. */
async function mountsOf(
  cp: ControlPlane,
  { pod, container, namespace }: { pod: unknown; container: JsonRecord; namespace: string },
): Promise<Mounts> {
  const mounts = new Map<string, string>()
  for (const mount of listAt(container, 'volumeMounts')) {
    // Of a pod that was admitted; the kubeconfig stands for what is in there.
    if (stringAt(mount, 'mountPath') === TOKEN_MOUNT) continue
    const volume = listAt(pod, 'volumes').find((one) => stringAt(one, 'name') === stringAt(mount, 'name'))
    const name = stringAt(volume, 'secret', 'secretName') ?? ''
    const secret = await cp.admin.get({ apiVersion: 'v1', kind: 'Secret', name, namespace })
    const data = own(secret, 'data')
    if (!isRecord(data))
      throw new TypeError(`the mount ${JSON.stringify(mount)} is of no Secret that is there`)
    const folder = join(cp.folder, `secret-${name}`)
    mkdirSync(folder, { recursive: true })
    for (const [file, content] of Object.entries(data))
      writeFileSync(join(folder, file), Buffer.from(String(content), 'base64'))
    mounts.set(stringAt(mount, 'mountPath') ?? '', folder)
  }
  return mounts
}

function underMounts(arg: string, mounts: Mounts): string {
  let text = arg
  for (const [path, folder] of mounts) text = text.replace(`=${path}/`, `=${folder}/`)
  return text
}

function leadingLines(log: string): number {
  try {
    return readFileSync(log, 'utf8').split('"message":"leading"').length - 1
  } catch {
    return 0
  }
}
