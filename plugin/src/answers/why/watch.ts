// `why --watch`: asks again until each hop that is read is good, and prints when each became so. What is not read in a cluster (the
// entries, the log) is as it was given, and is not waited for.
import { NO, YES } from '@kleym/shared/core/model/truth/truth.ts'
import type { Chain, Hop, HopName } from '@kleym/shared/core/answers/index.ts'
import { pause } from '@kleym/shared/kube/clock.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { EXIT, KleymError, wrongUsage } from '../../io/errors.ts'
import { escapeTerminal, neutraliseCommands } from '../../io/escape.ts'
import { chainText } from './frame.ts'
import { chainsOf, type WhyOptions } from './chains.ts'

/** How long it waits between two looks: SCM makes a pass in ten seconds, and an agent asks every five. */
const LOOK_MS = 2_000
/** Hops that show only in what is given beside the cluster. */
const GIVEN: ReadonlySet<HopName> = new Set(['on the server', 'attested'])

/** Follows the pods of a cluster until their hops are good. */
export async function watch(options: WhyOptions, context: CommandContext): Promise<CommandResult> {
  requireCluster(options)
  return follow(() => chainsOf(options, context).then(({ chains }) => chains), context)
}

/** Looks again and again, and prints what has changed, with the seconds since the first look. */
export async function follow(
  chainsNow: () => Promise<readonly Chain[]>,
  context: CommandContext,
): Promise<CommandResult> {
  const { clock, stdout } = context
  const began = clock.monotonicMs()
  const said = new Map<string, string>()
  let hasLeft = false
  stdout.onReaderLeft?.(() => {
    hasLeft = true
  })
  for (;;) {
    const chains = await look(chainsNow)
    const at = ((clock.monotonicMs() - began) / 1000).toFixed(1)
    for (const chain of chains) tell(chain, at, said, context)
    const [worst] = chains
    if (hasLeft || (worst !== undefined && chains.every(isDone)))
      return {
        answer: worst === undefined ? '' : `${chainText(worst)}\n`,
        notes: [],
        exitCode: exitCodeOf(chains),
      }
    await pause(clock, LOOK_MS)
  }
}

/** A pod that does not exist yet is waited for. */
async function look(chainsNow: () => Promise<readonly Chain[]>): Promise<readonly Chain[]> {
  try {
    return await chainsNow()
  } catch (error) {
    if (error instanceof KleymError && error.code === 'not-found') return []
    throw error
  }
}

function tell(
  { subject, hops }: Chain,
  at: string,
  said: Map<string, string>,
  { stdout }: CommandContext,
): void {
  for (const [index, hop] of hops.entries()) {
    const key = `${subject.pod.namespace}/${subject.pod.ref.name} ${subject.container.name} ${hop.name}`
    const text = `${stateOf(hop)}: ${hop.text}`
    if (said.get(key) === text) continue
    said.set(key, text)
    const row = `+${at}s ${subject.pod.ref.name} ${subject.container.name} ${index + 1} ${hop.name} ${text}`
    stdout.write(`${neutraliseCommands(escapeTerminal(row))}\n`)
  }
}

/** Whether nothing is waited for any more: all is good, but for what no other look at the cluster would show. */
function isDone({ hops }: Chain): boolean {
  return hops.every(
    (hop) =>
      hop.truth === YES || (hop.truth !== NO && (isUnread(hop) || (GIVEN.has(hop.name) && !isOfTime(hop)))),
  )
}

/** Whether a hop is not known since something may not be read or was not given, which time does not mend. */
function isUnread({ truth }: Hop): boolean {
  return [...truth.causes].every(({ kind }) => kind === 'unread')
}

/** Whether a hop is not known only until some time has passed. */
function isOfTime({ truth }: Hop): boolean {
  return [...truth.causes].some((cause) => cause.kind === 'runtime' && cause.isPassing === true)
}

function exitCodeOf(chains: readonly Chain[]): CommandResult['exitCode'] {
  if (chains.some(({ broken }) => broken !== undefined)) return EXIT.findings
  return chains.every(({ open }) => open === undefined) ? EXIT.ok : EXIT.incomplete
}

function stateOf({ truth }: Hop): string {
  if (truth === YES) return 'good'
  return truth === NO ? 'broken' : 'not known'
}

function requireCluster({ sources, output, entries, agentLog }: WhyOptions): void {
  if (sources.offline)
    throw usage(
      '--watch has no cluster',
      'files do not change while they are looked at',
      'leave --offline or --watch out',
    )
  if (output.format !== 'text')
    throw usage(
      `--watch prints no ${output.format}`,
      'it prints a line for each hop as it changes',
      'leave -o out',
    )
  if ([...entries, agentLog].includes('-'))
    throw usage(
      'stdin can be read only once',
      '--watch looks again and again',
      'give a file that is written anew',
    )
}

function usage(what: string, why: string, fix: string): KleymError {
  return wrongUsage('why', { what, why, fix })
}
