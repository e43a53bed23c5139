// What a chain is worked out from: the objects, and what was given of the server and of the agent.
import type { ExplainedDifference, AgentLogFacts, ServerEntry } from '../../predict/index.ts'
import { known, NO, open, type Truth } from '../../model/truth/truth.ts'
import { atRuntime } from '../../model/truth/unknown.ts'
import { agentOf, configOf, type AgentPod, type SpireParts } from './spire-parts.ts'
import type { AgentConfig } from '../../model/objects/agent-config.ts'
import { isWithin, nodePath } from './node-paths.ts'
import type { ChainSubject } from './subject.ts'

/** What the server holds for the container. */
export interface ServerSide {
  /** Its entries for this container, and those that its pod asks for. */
  readonly entries: readonly ServerEntry[]
  /** Its entries of nodes, which give agents aliases. */
  readonly ofNodes: readonly ServerEntry[]
  /** How many entries each parent has. */
  readonly perParent: ReadonlyMap<string, number>
  /** What differs from what the objects ask for, with its cause. */
  readonly differences: readonly ExplainedDifference[]
  /** Seconds since 1970; undefined: not known. */
  readonly asOf: number | undefined
}

/** The commands that a chain tells, which hold the flags of the answer. */
export interface ChainCommands {
  /** Gives the entries of the server. */
  readonly entries: string
  /** Gives the log of an agent. */
  readonly agentLog: (agent: { readonly namespace: string; readonly name: string } | undefined) => string
}

/** All that a chain reads. */
export interface ChainFacts {
  readonly subject: ChainSubject
  readonly parts: SpireParts
  /** Undefined: not given. */
  readonly server: ServerSide | undefined
  /** Undefined: neither a log nor selectors were given. */
  readonly agent: AgentLogFacts | undefined
  /** Seconds since 1970, of a cluster as it is; undefined: of files, which may be of any time. */
  readonly now: number | undefined
  readonly commands: ChainCommands
}

/**
 * Whether an entry has expired. The server deletes such entries every five minutes
 * (https://github.com/spiffe/spire/blob/v1.15.3/pkg/server/registration/manager.go).
 */
export function hasExpired({ fields }: Pick<ServerEntry, 'fields'>, { server, now }: ChainFacts): Truth {
  const { expiresAt } = fields
  if (expiresAt === 0) return NO
  const at = now ?? server?.asOf
  if (at !== undefined) return known(expiresAt <= at)
  return open(atRuntime(`it expires at ${timeOf(expiresAt)}, and when the entries were dumped was not given`))
}

/** `2026-11-22T12:00:00Z`; a server may hold any number. */
export function timeOf(seconds: number): string {
  const time = new Date(seconds * 1000)
  return Number.isNaN(time.getTime()) ? `second ${seconds}` : time.toISOString().replace('.000', '')
}

/** The agent that serves the pod. */
export function agentOfPod({ parts, subject }: ChainFacts): AgentPod | undefined {
  return agentOf(parts, subject.pod.nodeName)
}

/** The configuration of that agent. */
export function configOfPod(facts: ChainFacts): AgentConfig | undefined {
  return configOf(facts.parts, agentOfPod(facts))
}

/** Where on the node that agent serves the Workload API; undefined: it is not known. */
export function socketOnNode(facts: ChainFacts): string | undefined {
  const socket = configOfPod(facts)?.socketPath
  if (socket === undefined) return undefined
  const [nearest] = (agentOfPod(facts)?.ofNode ?? [])
    .filter(({ at }) => isWithin(socket, at))
    .toSorted((left, right) => right.at.length - left.at.length)
  return nearest && nodePath(`${nearest.path}/${nodePath(socket).slice(nodePath(nearest.at).length)}`)
}

/** The command that gives the log of that agent. */
export function agentLogOfPod(facts: ChainFacts): string {
  return facts.commands.agentLog(agentOfPod(facts))
}
