// What `why` reads, and the chains that it works out of that.
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import type { Container, Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { WORKLOAD_KINDS } from '@kleym/shared/core/model/objects/workload.ts'
import {
  containerVerdicts,
  factsOfSelectors,
  readAgentFacts,
  type AgentLogFacts,
} from '@kleym/shared/core/predict/index.ts'
import {
  chainOf,
  type Chain,
  type ChainCommands,
  droppedFields,
  readSpireParts,
  type SpireParts,
  subjectOf,
} from '@kleym/shared/core/answers/index.ts'
import { gather, type AnswerInput } from '../../gather/gather.ts'
import type { CommandContext } from '../../io/context.ts'
import { noSuchContainer, notFoundOnlyIfRead } from '../../frame/not-found.ts'
import { shellWord } from '../../flags/echo.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { kindsOfName, type ObjectName } from '../../sources/kind-name.ts'
import { STDIN_ARGUMENT } from '../../sources/stdin.ts'
import { asOfSeconds, readTimes } from '../parts/as-of.ts'
import { textIn, showEntries } from '../parts/read-entries.ts'
import { entriesOf, serverSide, type EntriesOfPods } from './server-side.ts'
import { podsOf } from './target.ts'

/** What `why` is asked. */
export interface WhyOptions extends CommonOptions {
  readonly target: ObjectName
  readonly container: string | undefined
  readonly spiffeId: string | undefined
  /** Files of a server's entries; `-` is stdin. None: not given. */
  readonly entries: readonly string[]
  /** As written: when they were dumped. */
  readonly asOf: string | undefined
  /** A file of the agent's log; undefined: not given. */
  readonly agentLog: string | undefined
  /** `type:value`; undefined: not given. */
  readonly selectors: readonly string[] | undefined
  readonly watch: boolean
}

/** What files were given beside the objects: they are read once. */
interface GivenFiles {
  readonly log: string | undefined
  readonly entries: EntriesOfPods | undefined
}

/** The chains of the containers that are meant, worst first, and what they were read from. */
export async function chainsOf(
  options: WhyOptions,
  context: CommandContext,
): Promise<{ readonly chains: readonly Chain[]; readonly input: AnswerInput }> {
  const { target, allNamespaces, spiffeId } = options
  const asOf = asOfSeconds(options.asOf)
  // An entry of the server may be explained by what other namespaces hold.
  const question = {
    allNamespaces,
    named: [target.namespace],
    spire: true,
    workloads: true,
    readsAll: options.entries.length > 0,
    kind: WORKLOAD_KINDS.some(({ kind }) => kind === target.kind) ? target.kind : undefined,
  }
  const input = await gather(options, question, context)
  const pods = notFoundOnlyIfRead(input, kindsOfName(target), () =>
    podsOf(input, { ...options, selector: undefined }),
  )
  const isLiveState = input.isLive && input.before === input.after
  const times = readTimes(asOf, options.entries, input, context)
  const parts = await partsOf(options, input, pods, context)
  const files = await readGiven(options, pods, context)
  const chains: Chain[] = []
  for (const pod of pods) {
    const meant = notFoundOnlyIfRead(input, kindsOfName(target), () => containersMeant(pod, options, input))
    for (const container of meant) {
      const asked = { pod, container }
      chains.push(
        chainOf({
          subject: subjectOf({ analysis: input.after, isLiveState, pod, container, spiffeId }),
          parts,
          server: files.entries && (await serverSide(input, files.entries, asked, times)),
          agent: agentSide(options, files, asked),
          now: isLiveState ? times.objectsAsOf : undefined,
          commands: commandsFor(options, asked, parts),
        }),
      )
    }
  }
  return { chains: chains.toSorted((left, right) => weight(left) - weight(right)), input }
}

/** What is broken comes first, by its hop; then what is not known. */
function weight({ hops, broken, open }: Chain): number {
  const at = broken ?? open
  const hop = at === undefined ? hops.length : hops.indexOf(at)
  return (broken === undefined ? (open === undefined ? 2 : 1) : 0) * hops.length + hop
}

async function partsOf(
  { sources }: WhyOptions,
  input: AnswerInput,
  pods: readonly Pod[],
  context: CommandContext,
): Promise<SpireParts> {
  if (!input.isLive) {
    const objects = input.spireObjects ?? []
    // Files hold what was put into them: that no agent is among them shows nothing.
    const hasAgents = readSpireParts(objects, NO_GAPS).agents.length > 0
    return readSpireParts(objects, {
      ...NO_GAPS,
      agentGaps: hasAgents ? [] : [AGENTS_NOT_GIVEN],
    })
  }
  const { openCluster } = await import('../../cluster/session.ts')
  const session = await openCluster(sources.cluster, context)
  try {
    const { snapshot, changes } = input.after
    // Asked for only where an object is not as it was written: it is a request more.
    const schema =
      changes.all.some(({ kind }) => kind === 'update') ||
      snapshot.clusterSpiffeIds.some((one) => droppedFields(one, undefined).perhaps.length > 0) === YES
    return await session.readSpire({ pods, schema })
  } finally {
    session.close()
  }
}

const AGENTS_NOT_GIVEN = {
  verb: 'read',
  what: 'the pods of the agents',
  cause: 'not given',
  fix: 'give them with -f (kubectl get pods -n SPIRE -o yaml), or ask the cluster',
} as const
const NO_GAPS = { scmGaps: [], agentGaps: [], configGaps: [] }

async function readGiven(
  { entries, agentLog, asOf }: WhyOptions,
  pods: readonly Pod[],
  context: CommandContext,
): Promise<GivenFiles> {
  const log = agentLog === undefined ? undefined : await textIn(agentLog, context)
  return { log, entries: entries.length === 0 ? undefined : await entriesOf(entries, pods, context, asOf) }
}

function agentSide(
  { selectors }: WhyOptions,
  { log }: GivenFiles,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
): AgentLogFacts | undefined {
  if (log !== undefined) return readAgentFacts(log, { podUid: pod.uid, container: container.name })
  return selectors === undefined ? undefined : factsOfSelectors(selectors)
}

/** The container that is named; else those that a registration is for, and all where none is for any. */
function containersMeant(
  pod: Pod,
  { container: name, target }: WhyOptions,
  input: AnswerInput,
): readonly Container[] {
  if (name !== undefined) {
    const named = pod.containers.filter((one) => one.name === name)
    if (named.length > 0) return named
    throw noSuchContainer(
      name,
      pod,
      (first) => `name one of them: kubectl kleym why ${target.name} -c ${first}`,
    )
  }
  const all = pod.containers.filter(({ role }) => role !== 'ephemeral')
  const prediction = input.after.settled.prediction()
  const meant = all.filter((one) =>
    containerVerdicts(prediction, pod, one).some(
      ({ verdict, source }) =>
        verdict === 'issued' || (verdict !== 'dead' && source.kind === 'ClusterSPIFFEID'),
    ),
  )
  if (meant.length > 0) return meant
  const regular = all.filter(({ role }) => role === 'regular')
  return regular.length > 0 ? regular : all
}

/** The commands that give what was not given, with the flags of this one. */
function commandsFor(
  { target, entries, agentLog, spiffeId, output }: WhyOptions,
  { pod, container }: { readonly pod: Pod; readonly container: Container },
  { server }: SpireParts,
): ChainCommands {
  const files = entries.filter((one) => one !== STDIN_ARGUMENT).map((one) => ` --entries ${shellWord(one)}`)
  const log =
    agentLog === undefined || agentLog === STDIN_ARGUMENT ? '' : ` --agent-log ${shellWord(agentLog)}`
  const name = shellWord(target.kind === 'Pod' ? pod.ref.name : `${target.kind.toLowerCase()}/${target.name}`)
  const id = spiffeId === undefined ? '' : ` --spiffe-id ${shellWord(spiffeId)}`
  const why = `kubectl kleym why ${name} -n ${shellWord(pod.namespace)} -c ${shellWord(container.name)}${id}${output.echo ?? ''}`
  return {
    entries: `${showEntries(server)} | ${why}${log} --entries -`,
    agentLog: (agent) => {
      const where =
        agent === undefined ? '-n SPIRE AGENT' : `-n ${shellWord(agent.namespace)} ${shellWord(agent.name)}`
      return `let the process ask while the agent logs at DEBUG, then: kubectl logs ${where} | ${why}${files.join('')} --agent-log -`
    },
  }
}
