// `--svids`: what a process got, and which container it is of.
import { podText } from '@kleym/shared/core/model/objects/pod-index.ts'
import type { Pod } from '@kleym/shared/core/model/objects/pod.ts'
import {
  type Analysis,
  Holdings,
  idsOf,
  openVerdicts,
  type State,
} from '@kleym/shared/core/analysis/index.ts'
import { all, any } from '@kleym/shared/core/model/truth/truth.ts'
import {
  readAgentLog,
  type AttestedSelectors,
  type ContainerSvids,
  type DueSvids,
  readSvidText,
} from '@kleym/shared/core/predict/index.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import type { CommandContext } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import { notFoundOnlyIfRead } from '../../frame/not-found.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { collect } from '../../sources/files.ts'
import { problemError } from '../../sources/problem.ts'
import { streamOf } from '../parts/read-entries.ts'

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
  throw new KleymError({
    code: 'not-found',
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
  context: CommandContext,
): Promise<ContainerSvids> {
  const pod = notFoundOnlyIfRead(input, ['Pod'], () => podOf(input, key))
  const container = pod.containers.find((one) => one.name === name)
  if (container === undefined) {
    const names = pod.containers.map((one) => one.name)
    throw new KleymError({
      code: 'not-found',
      what: 'there is no such container',
      where: `${podText(pod)} -c ${name}`,
      why: `the containers are ${names.join(', ')}`,
      fix: didYouMean(name, names) ?? 'name one of them',
    })
  }
  const bytes = await collect(streamOf(file, context), file)
  if (!(bytes instanceof Uint8Array)) throw problemError(bytes)
  const reading = readSvidText(new TextDecoder().decode(bytes))
  if (!reading.ok)
    throw new KleymError({
      code: 'input',
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
  return { pod, container, svids: reading.svids, attested }
}

/** What a container should hold. Of several states the first is the one that is wanted; what kleym must still write for it is not due yet. */
export function dueIn(
  states: readonly State[],
  analysis: Analysis,
  { pod, container }: ContainerSvids,
): DueSvids {
  const found = states.map((state) => {
    const holdings = new Holdings(state, openVerdicts(analysis))
    const { there, held, perhaps, other } = holdings.ofContainer(pod, container)
    const given = [...held, ...perhaps]
    const due = given
      .filter(({ source }) => !state.unwritten.has(source.name))
      .map((registration) => ({ registration, holds: all(there, holdings.given(registration)) }))
    return { due, other, ids: idsOf(given) }
  })
  return {
    due: found[0]?.due ?? [],
    possible: new Set(found.flatMap(({ ids }) => ids)),
    other: any(...found.map(({ other }) => other)),
  }
}

async function attestedIn(
  file: string,
  of: Parameters<typeof readAgentLog>[1],
  context: CommandContext,
): Promise<AttestedSelectors> {
  const bytes = await collect(streamOf(file, context), file)
  if (!(bytes instanceof Uint8Array)) throw problemError(bytes)
  const reading = readAgentLog(new TextDecoder().decode(bytes), of)
  if (reading.ok) return reading
  throw new KleymError({
    code: 'input',
    what: 'this log tells no selectors of the process',
    where: `--agent-log ${file}`,
    why: reading.why,
    fix: 'let the process ask while the agent logs at DEBUG, and give its log: kubectl logs -n SPIRE AGENT > agent.log; or write the selectors with --selectors',
    docs: 'docs/verify.md',
  })
}
