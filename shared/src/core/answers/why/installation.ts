// What is to be said of SPIRE as a whole: the hops that hang on no single pod, by the same steps as those of one (chain.ts). Pure.
import { present } from '../../base/present.ts'
import { podText } from '../../model/objects/pod-index.ts'
import { sourceText, type ExplainedDifference } from '../../predict/index.ts'
import { counted } from '../../base/text/counted.ts'
import { YES } from '../../model/truth/truth.ts'
import { broken, good, notGiven, notShown, unreadHop, worstOf, type Hop, type HopAnswer } from './hop.ts'
import { runsScm } from './installed.ts'
import { agentThere } from './on-agent.ts'
import { fixOfMissing } from './on-server.ts'
import { agentOf, type SpireParts } from './spire-parts.ts'
import { versionNotes } from './versions.ts'

/** What the server holds of all that it should. */
export interface WholeServer {
  readonly differences: readonly ExplainedDifference[]
  /** Entries that are as they should be. */
  readonly agreed: number
}

/** What is known of an installation of SPIRE. */
export interface SpireInstall {
  readonly parts: SpireParts
  /** The names of all nodes; undefined: they could not be read. */
  readonly nodes: readonly string[] | undefined
  /** Undefined: not given. */
  readonly server: WholeServer | undefined
  /** The command that gives the entries of the server. */
  readonly entriesCommand: string
}

/** The hops "installed", "on the server" and "on the agent". */
export function installationHops({ parts, nodes, server, entriesCommand }: SpireInstall): readonly Hop[] {
  return [
    { name: 'installed', ...runsScm(parts) },
    {
      name: 'on the server',
      ...(server === undefined ? notGiven('the entries of the server', entriesCommand) : onServer(server)),
    },
    { name: 'on the agent', ...onAgents(parts, nodes) },
  ]
}

/** What is missing since a moment ago is no fault. */
function onServer({ differences, agreed }: WholeServer): HopAnswer {
  const missing = differences.flatMap((one) => (one.kind === 'missing' && one.cause !== 'race' ? [one] : []))
  const answers = missing.map(({ expected, cause, why }): HopAnswer => {
    const whose = expected.pod === undefined ? '' : ` for ${podText(expected.pod)}`
    return broken(
      `the server holds no entry of ${sourceText(expected.source)}${whose}: ${why}`,
      fixOfMissing(cause, []),
    )
  })
  const all = good(`the server holds each entry that SCM is to make: ${agreed}`)
  return withCount(worstOf(answers, all), missing.length)
}

function onAgents(parts: SpireParts, nodes: readonly string[] | undefined): HopAnswer {
  const served = [...new Set(parts.agents.flatMap(({ node }) => node ?? []))]
  const answers = served.map((node) => agentThere(parts, node, agentOf(parts, node)))
  const [any = 'NODE'] = nodes ?? []
  const none =
    parts.agentGaps.length > 0
      ? unreadHop(parts.agentGaps)
      : notShown(
          'no DaemonSet that runs a SPIRE agent was found; agents may run in other pods, or outside Kubernetes',
          `look for a process spire-agent on node ${any}`,
          'DaemonSet',
        )
  const whole = worstOf(answers, none)
  const failing = answers.filter(({ truth }) => truth !== YES).length
  const without = (nodes ?? []).filter((one) => !served.includes(one))
  const versions = new Set(served.flatMap((node) => agentOf(parts, node)?.version ?? []))
  const told =
    whole.truth === YES ? { ...whole, text: `agents are ready on ${counted(served.length, 'node')}` } : whole
  return {
    ...withCount(told, failing),
    notes: present(
      served.length > 0 &&
        without.length > 0 &&
        `no agent runs on ${without.slice(0, 3).join(', ')}${without.length > 3 ? ' and more' : ''}: pods there get no SVID`,
      ...[...versions].flatMap((version) => versionNotes(parts.serverVersions, version)),
    ),
  }
}

function withCount(answer: HopAnswer, failing: number): HopAnswer {
  return failing < 2 ? answer : { ...answer, text: `${answer.text}; and ${failing - 1} more` }
}
