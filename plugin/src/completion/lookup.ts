// What a completion looks up beyond the command line: names from the kubeconfig, and from the cluster by lists of
// metadata. A shell waits for the answer at every press of a key: what cannot be had in time is left out, and nothing
// here rejects. Why something is missing goes to the debug file.
import type { ResourceRef, Resource } from '@kleym/shared/kube/api.ts'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import { dig, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { readStringMap } from '@kleym/shared/core/model/objects/meta.ts'
import {
  isDns1123Subdomain,
  labelValueProblem,
  qualifiedNameProblem,
} from '@kleym/shared/core/base/text/kubernetes.ts'
import { clusterOptions, type ClusterFlags, type ClusterOptions } from '../flags/cluster-flags.ts'
import type { CommandContext } from '../io/context.ts'
import { KleymError } from '../io/errors.ts'
import type { Connection } from '../cluster/connect.ts'

/** How long all lookups of one completion may take together, in milliseconds. */
export const LOOKUP_MS = 800
/** More candidates are of no use to a person; the next letter leaves fewer. */
const MAX_NAMES = 500

/** The lists of names of a kubeconfig. */
export type KubeconfigList = 'contexts' | 'clusters' | 'users'

/** Where names come from; a list that cannot be had is empty, or ends early. */
export interface CompletionLookup {
  /** The namespace of the chosen context; undefined where there is none to know. */
  namespace(): Promise<string | undefined>
  /** The names of a kind that pass; in all namespaces where none is given. */
  objects(query: NameQuery): Promise<readonly ResourceRef[]>
  /** The labels of objects of a kind that pass, as `key=value`, each once; in all namespaces where none is given. */
  labels(query: LabelsQuery): Promise<readonly string[]>
  /** Without any request. */
  kubeconfig(list: KubeconfigList): Promise<readonly string[]>
}

/** What of the objects of a kind is wanted. */
interface MetadataQuery<Wanted> {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly wanted: (one: Wanted) => boolean
}

/** Which names are wanted. */
export type NameQuery = MetadataQuery<ResourceRef>
/** Which labels are wanted. */
export type LabelsQuery = MetadataQuery<string>

/** What a lookup needs of the process. */
export interface LookupIo extends Pick<CommandContext, 'cwd' | 'env' | 'version'> {
  readonly clock: Clock
  /** Takes one line for the debug file. */
  readonly debug: (line: string) => void
}

/** The lookup for a command line that says `flags`; the time begins to run when it is made. */
export function createLookup(flags: ClusterFlags, io: LookupIo): CompletionLookup & { close(): void } {
  const deadline = deadlineIn(LOOKUP_MS, io.clock)
  let connecting: Promise<Connection> | undefined
  const connection = async (): Promise<Connection> => (connecting ??= connectAs(flags, io))
  /** Runs until it ends, fails, or time is up. */
  const attempt = async (what: string, run: () => Promise<void>): Promise<void> => {
    const tried = run().then(
      () => undefined,
      (error: unknown) => messageOf(error),
    )
    const problem = await Promise.race([tried, deadline.passed.then(() => 'no time left')])
    if (problem !== undefined) io.debug(`${what}: ${problem}`)
  }
  return {
    namespace: async () => {
      let namespace: string | undefined
      await attempt('the namespace of the context', async () => {
        ;({ namespace } = await connection())
      })
      return namespace
    },
    objects: async (query) => {
      const names: ResourceRef[] = []
      await attempt(`list ${query.resource.plural}`, async () => {
        const { client } = await connection()
        await readNames(client, { ...query, signal: deadline.signal }, names)
      })
      return names
    },
    labels: async (query) => {
      const labels = new Set<string>()
      await attempt(`list ${query.resource.plural}`, async () => {
        const { client } = await connection()
        await readLabels(client, { ...query, signal: deadline.signal }, labels)
      })
      return [...labels]
    },
    kubeconfig: async (list) => {
      let names: readonly string[] = []
      await attempt(`${list} of the kubeconfig`, async () => {
        names = await kubeconfigNames(list, clusterOptions(flags, io.cwd), io.env)
      })
      return names
    },
    close: () => {
      deadline.cancel()
      connecting?.then(
        (open) => open.close(),
        () => undefined,
      )
    },
  }
}

/** The way to a cluster is code that most completions do not need: it is loaded here. */
async function connectAs(flags: ClusterFlags, { cwd, env, clock, version }: LookupIo): Promise<Connection> {
  const { connect } = await import('../cluster/connect.ts')
  return connect({ ...clusterOptions(flags, cwd), timeoutMs: LOOKUP_MS }, { env, clock, version })
}

async function readNames(
  client: Pick<Connection['client'], 'pages'>,
  { wanted, ...asked }: NameQuery & { readonly signal: AbortSignal },
  names: ResourceRef[],
): Promise<void> {
  for await (const item of itemsOf(client, asked)) {
    const ref = refOf(item)
    if (ref === undefined || !wanted(ref)) continue
    if (names.push(ref) >= MAX_NAMES) return
  }
}

async function readLabels(
  client: Pick<Connection['client'], 'pages'>,
  { wanted, ...asked }: LabelsQuery & { readonly signal: AbortSignal },
  labels: Set<string>,
): Promise<void> {
  for await (const item of itemsOf(client, asked))
    for (const [key, value] of readStringMap(dig(item, 'metadata', 'labels'))) {
      const label = `${key}=${value}`
      const isSound = qualifiedNameProblem(key) === undefined && labelValueProblem(value) === undefined
      if (isSound && wanted(label)) labels.add(label)
      if (labels.size >= MAX_NAMES) return
    }
}

/** The objects of a kind, by their metadata alone. */
async function* itemsOf(
  client: Pick<Connection['client'], 'pages'>,
  { resource, namespace, signal }: Omit<NameQuery, 'wanted'> & { readonly signal: AbortSignal },
): AsyncGenerator<JsonRecord> {
  const scope = namespace === undefined ? {} : { namespace }
  for await (const { items } of client.pages(resource, { ...scope, metadataOnly: true, signal })) yield* items
}

/** The name of an object; undefined for one that no API server would have taken. */
function refOf(item: unknown): ResourceRef | undefined {
  const name = stringAt(item, 'metadata', 'name') ?? ''
  const namespace = stringAt(item, 'metadata', 'namespace')
  if (!isDns1123Subdomain(name)) return undefined
  if (namespace === undefined) return { name }
  return isDns1123Subdomain(namespace) ? { name, namespace } : undefined
}

async function kubeconfigNames(
  list: KubeconfigList,
  { kubeconfigPath }: ClusterOptions,
  env: LookupIo['env'],
): Promise<readonly string[]> {
  const [{ readKubeconfigs }, { filesOf }] = await Promise.all([
    import('@kleym/shared/kube/kubeconfig-files.ts'),
    import('@kleym/shared/kube/kubeconfig.ts'),
  ])
  const source = kubeconfigPath === undefined ? { env } : { env, kubeconfigPath }
  const kubeconfig = await readKubeconfigs(filesOf(source))
  return kubeconfig === undefined ? [] : [...kubeconfig[list].keys()]
}

interface Deadline {
  readonly signal: AbortSignal
  readonly passed: Promise<void>
  cancel(): void
}

function deadlineIn(ms: number, clock: Clock): Deadline {
  const controller = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, () => {
    resolve()
    controller.abort()
  })
  return { signal: controller.signal, passed: promise, cancel }
}

function messageOf(error: unknown): string {
  if (error instanceof KleymError) return `${error.what}: ${error.why}`
  return error instanceof Error ? error.message : String(error)
}
