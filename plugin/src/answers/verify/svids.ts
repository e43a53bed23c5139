// `--svids`: what a process got, and which container it is of.
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import { type Analysis, Holdings, idsOf, openVerdicts } from '@kleym/shared/core/analysis/index.ts'
import { originsIn } from '@kleym/shared/core/findings/index.ts'
import { all, any } from '@kleym/shared/core/model/truth/truth.ts'
import {
  readAgentLog,
  type AttestedSelectors,
  type ContainerSvids,
  type DueSvids,
  readSvidText,
  type Registration,
  sourceText,
} from '@kleym/shared/core/predict/index.ts'
import type { CommandContext } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { noSuchContainer, notFoundOnlyIfRead } from '../../frame/not-found.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import type { ReadTimes, ServerComparison } from '../parts/compare-entries.ts'
import { textIn } from '../parts/read-entries.ts'

/** What the command line says of a process. */
export interface SvidsOption {
  readonly file: string
  /** `namespace/name`. */
  readonly pod: string
  readonly container: string
  readonly selectors: readonly string[] | undefined
  /** A file of the agent's log; undefined: not given. */
  readonly agentLog: string | undefined
}

function podOf({ after }: AnswerInput, key: string): Pod {
  const [namespace = '', ...name] = key.split('/')
  const found = after.snapshot.pods.named(namespace, name.join('/'))
  if (found.state === 'found' && found.object.exists) return found.object
  throw new KleymError('not-found', {
    what: 'there is no such pod',
    where: `--pod ${key}`,
    why: 'no pod of that namespace and name is among what was read',
    fix: 'write it as NAMESPACE/NAME; of files, give those of the cluster as it is',
  })
}

/** The container, and the SVIDs that its process got. Throws a KleymError; of a file with keys nothing is repeated. */
export async function containerSvids(
  { file, pod: key, container: name, selectors, agentLog }: SvidsOption,
  input: AnswerInput,
  { asOf, objectsAsOf }: ReadTimes,
  context: CommandContext,
): Promise<ContainerSvids> {
  const pod = notFoundOnlyIfRead(input, ['Pod'], () => podOf(input, key))
  const container = pod.containers.find((one) => one.name === name)
  if (container === undefined) throw noSuchContainer(name, pod)
  const reading = readSvidText(await textIn(file, context))
  if (!reading.ok)
    throw new KleymError('input', {
      what: 'these are no SVIDs as text',
      where: `--svids ${file}`,
      why: reading.why,
      fix: 'run in the container: spire-agent api fetch x509 -socketPath SOCKET > svids.txt',
      docs: 'docs/verify.md',
    })
  const attested =
    agentLog === undefined
      ? selectors && { selectors, isWhole: false }
      : await attestedIn(agentLog, { podUid: pod.uid, container: name }, context)
  const known = asOf ?? objectsAsOf
  const moment = {
    seconds: known ?? Math.floor(context.clock.now().getTime() / 1000),
    isKnown: known !== undefined,
  }
  return { pod, container, svids: reading.svids, attested, moment }
}

/** What a container should hold. What kleym must still write for it is not due yet, and is not unexpected either. */
export function dueIn(
  analysis: Analysis,
  { isLiveState }: Pick<ServerComparison, 'isLiveState'>,
  { pod, container }: ContainerSvids,
): DueSvids {
  const state = isLiveState ? analysis.now : analysis.settled
  const holdings = new Holdings(state, openVerdicts(analysis))
  const { there, held, perhaps, other } = holdings.ofContainer(pod, container)
  // A process may lack what is given only perhaps. What assumed settings alone leave open is reported, as open.
  const assumed = new Set(new Holdings(state).ofContainer(pod, container).held.map(registrationText))
  const asIs = new Holdings(analysis.now, openVerdicts(analysis)).ofContainer(pod, container)
  return {
    due: [...held, ...perhaps]
      .filter((one) => !state.unwritten.has(one.source.name) && assumed.has(registrationText(one)))
      .map((registration) => ({
        registration,
        parentId:
          registration.source.kind === 'ClusterSPIFFEID'
            ? state.prediction().parentIdOf(pod)
            : registration.outcome.entry?.parentId,
        holds: all(there, holdings.given(registration)),
      })),
    possible: new Set(idsOf([...held, ...perhaps, ...asIs.held, ...asIs.perhaps])),
    other: any(other, asIs.other),
    originsOf: originsIn(state),
  }
}

function registrationText({ source, spiffeId = '' }: Registration): string {
  return `${sourceText(source)} ${spiffeId}`
}

async function attestedIn(
  file: string,
  of: Parameters<typeof readAgentLog>[1],
  context: CommandContext,
): Promise<AttestedSelectors> {
  const reading = readAgentLog(await textIn(file, context), of)
  if (reading.ok) return reading
  throw new KleymError('input', {
    what: 'this log shows no selectors of the process',
    where: `--agent-log ${file}`,
    why: reading.why,
    fix: 'let the process ask while the agent logs at DEBUG, then give --agent-log (kubectl logs -n SPIRE AGENT), or give --selectors',
    docs: 'docs/verify.md',
  })
}
