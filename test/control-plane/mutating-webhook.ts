// A mutating webhook that changes ClusterSPIFFEIDs while they are written: a small HTTPS server that the API server calls.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { dig, isRecord, stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from './control-plane.ts'
import { foreign } from './in-force.ts'
import { until } from '@kleym/testing/wait.ts'

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}

/** What is done to an object that is written, given the object and the verb. */
export type Mutation = (object: JsonRecord, operation: 'CREATE' | 'UPDATE') => readonly PatchOperation[]

/** One object that the API server has asked about. */
export interface Asked {
  readonly operation: 'CREATE' | 'UPDATE'
  readonly dryRun: boolean
  readonly user: string
  readonly hint: string
}

/** A webhook at work. It changes nothing but what `mutate` says. */
export interface MutatingWebhook {
  /** Everything that the API server has asked so far, in order. */
  readonly asked: readonly Asked[]
  /** From now on changes what is written for the bindings of a namespace, which it knows by their hint; undefined: nothing. */
  mutate(space: string, mutation: Mutation | undefined): void
  /** Takes the configuration away; the API server calls it no more when this resolves. */
  uninstall(): Promise<void>
  stop(): Promise<void>
}

const NAME = 'changes-clusterspiffeids'
const API_VERSION = 'admissionregistration.k8s.io/v1'

/** Starts the server, and has the API server call it before any write of a ClusterSPIFFEID. */
export async function installWebhook(cp: ControlPlane): Promise<MutatingWebhook> {
  const asked: Asked[] = []
  const mutations = new Map<string, Mutation>()
  const server = createServer(
    { cert: readFileSync(cp.serving.certificate), key: readFileSync(cp.serving.key) },
    (request, response) => void answer(request, response, { mutations, asked }),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  await cp.apply([configuration(port, cp.ca)])
  await until(() => isCalled(cp, asked), 'the webhook to be called')
  return {
    asked,
    mutate: (space, mutation) => {
      if (mutation === undefined) mutations.delete(space)
      else mutations.set(space, mutation)
    },
    uninstall: async () => {
      await cp.admin.delete({ apiVersion: API_VERSION, kind: 'MutatingWebhookConfiguration', name: NAME })
      await until(async () => !(await isCalled(cp, asked)), 'the webhook not to be called any more')
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function configuration(port: number, ca: string): JsonRecord {
  return {
    apiVersion: API_VERSION,
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: NAME },
    webhooks: [
      {
        name: 'clusterspiffeids.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 30,
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(ca).toString('base64'),
        },
        rules: [
          {
            apiGroups: ['spire.spiffe.io'],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['clusterspiffeids'],
          },
        ],
      },
    ],
  }
}

/** Whether a dry run of the admin's reaches the webhook. */
async function isCalled(cp: ControlPlane, asked: readonly Asked[]): Promise<boolean> {
  const before = asked.length
  const path = '/apis/spire.spiffe.io/v1alpha1/clusterspiffeids?dryRun=All'
  await cp.admin.request({ method: 'POST', path, body: foreign('webhook-probe') })
  return asked.slice(before).some(({ user }) => user === 'admin')
}

/** What the webhook is to do, and what it has been asked. */
interface WebhookState {
  readonly mutations: ReadonlyMap<string, Mutation>
  readonly asked: Asked[]
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  state: WebhookState,
): Promise<void> {
  const text = JSON.stringify(reviewed(await bodyOf(request), state))
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}

function reviewed(review: unknown, { mutations, asked }: WebhookState): JsonRecord {
  const object = dig(review, 'request', 'object')
  const hint = stringAt(object, 'spec', 'hint') ?? ''
  const operation = stringAt(review, 'request', 'operation') === 'CREATE' ? 'CREATE' : 'UPDATE'
  const dryRun = dig(review, 'request', 'dryRun') === true
  asked.push({ operation, dryRun, user: stringAt(review, 'request', 'userInfo', 'username') ?? '', hint })
  const [space = ''] = hint.split('/')
  const patch = isRecord(object) ? (mutations.get(space)?.(object, operation) ?? []) : []
  const text = Buffer.from(JSON.stringify(patch)).toString('base64')
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: stringAt(review, 'request', 'uid'),
      allowed: true,
      ...(patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: text }),
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
