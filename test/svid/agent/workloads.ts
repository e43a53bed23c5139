// Asks the Workload API as many containers, a few at a time. One process asks for one container after the other, also where calls
// overlap: what the agent attests is the cgroup in which the process is when it connects.
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'

const PROCESS = join(import.meta.dirname, 'workload-process.ts')
const AT_A_TIME = 4
/** The agent answers within a second or two, or when it has given up looking for the container. */
const LONGEST_ANSWER_MS = 60_000

/** How the agent is asked: for all SVIDs over the Workload API, or over SDS for the certificate `default`, as Istio's Envoy does. */
export type AgentApi = 'Workload API' | 'SDS'

/** What a workload process is asked. */
export interface SvidQuestion {
  readonly id: number
  /** The file of its cgroup. */
  readonly procs: string
  readonly socket: string
  readonly over?: AgentApi
  /** The executable of spire-agent: what its command prints is asked for, rather than the SVIDs. */
  readonly command?: string
}

/** An SVID of a container, without its key. */
export interface HandedSvid {
  readonly spiffeId: string
  readonly hint: string
}

/** What the agent has answered. */
export interface SvidAnswer {
  readonly id: number
  /** gRPC's status; 0 is success, 7 that there is no identity, -1 that there was no answer. */
  readonly status: number
  readonly message: string
  /** In the order of the answer. */
  readonly svids: readonly HandedSvid[]
  /** What the command printed, where that was asked for. */
  readonly printed?: string
}

/** Workloads that ask one socket. */
export class Workloads {
  /** Where they ask. */
  readonly socket: string
  /** The processes, each with what it was asked last. */
  readonly #processes: Map<ChildProcess, Promise<unknown>>

  constructor(socket: string) {
    this.socket = socket
    this.#processes = new Map(Array.from({ length: AT_A_TIME }, () => [fork(PROCESS), Promise.resolve()]))
  }

  /** The answers for these cgroups, in their order. */
  async ask(procs: readonly string[], over: AgentApi = 'Workload API'): Promise<readonly SvidAnswer[]> {
    const answers: SvidAnswer[] = []
    const queue = procs.entries()
    const work = async (child: ChildProcess): Promise<void> => {
      for (const [id, file] of queue)
        answers[id] = await this.#one(child, { id, procs: file, socket: this.socket, over })
    }
    await Promise.all([...this.#processes.keys()].map(work))
    return answers
  }

  /** What `spire-agent api fetch x509` prints in a cgroup. */
  async print(procs: string, command: string): Promise<string> {
    const [child] = this.#processes.keys()
    if (child === undefined) throw new Error('there is no workload process')
    const { printed = '' } = await this.#one(child, { id: 0, procs, socket: this.socket, command })
    return printed
  }

  /** Ends the processes, and resolves once none of them is in a cgroup any more. */
  async end(): Promise<void> {
    await Promise.all(
      [...this.#processes.keys()].map(
        (child) =>
          new Promise<void>((resolve) => {
            child.once('exit', () => resolve())
            child.disconnect()
          }),
      ),
    )
  }

  /** Asks a process once it has answered what it was asked before. */
  #one(child: ChildProcess, question: SvidQuestion): Promise<SvidAnswer> {
    const answer = Promise.resolve(this.#processes.get(child)).then(() => answerOf(child, question))
    this.#processes.set(child, answer)
    return answer
  }
}

function answerOf(child: ChildProcess, question: SvidQuestion): Promise<SvidAnswer> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the agent did not answer ${question.procs} in ${LONGEST_ANSWER_MS} ms`)),
      LONGEST_ANSWER_MS,
    )
    child.once('message', (answer: SvidAnswer) => {
      clearTimeout(late)
      resolve(answer)
    })
    child.send(question)
  })
}
