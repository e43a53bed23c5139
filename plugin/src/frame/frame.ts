// One result model for every output format and for the exit code: a command makes a Frame, and `finish` turns it into
// what is printed. The exit code never depends on the format.
import type { Finding, Subject } from '@kleym/shared/core/findings/finding.ts'
import type { Ignorance } from '@kleym/shared/core/unknown-reason.ts'
import type { World } from '../gather/gather.ts'
import { formatError } from '../io/errors.ts'
import { paletteFor, viewWidth, type CommandContext, type Outcome } from '../io/context.ts'
import type { OutputOptions } from '../flags/options.ts'
import type { CiResult } from '../output/ci.ts'
import { toJson } from '../output/json.ts'
import type { Diagram } from '../output/mermaid.ts'
import { toNames, type NamedObject } from '../output/name.ts'
import { problemError } from '../sources/problem.ts'
import { BLANK, line, MARKS, render, type Block } from '../text/line.ts'
import { viewSuppressions } from '../text/suppressions.ts'
import { wrap } from '../text/wrap.ts'
import type { Layout } from '../text/layout.ts'
import { judge, unknownsOf, type Judged } from './judged.ts'
import { machineReport } from './machine.ts'

export interface Frame {
  /** `kind` of the machine-readable report. */
  readonly kind: string
  /** The fields of the machine-readable report, before findings and summary. Other formats do not ask for them. */
  readonly fields: () => Readonly<Record<string, unknown>>
  /** In their total order, before any is suppressed; the exit code and every format read these. */
  readonly findings: readonly Finding[]
  /** What suppressions are judged by, where it is more than the findings: then an unused annotation is reported. */
  readonly grounds?: {
    /** Every finding that there is, shown or not: what tells whether a flag suppresses anything. */
    readonly all: () => readonly Finding[]
    /** The objects that the answer is about; without it, the subjects of the findings. */
    readonly covers?: (subject: Subject) => boolean
  }
  /** `diff` alone: one sentence for each object that would change. */
  readonly differences?: readonly string[]
  /** `diff` alone: whether an effect rests on a registration that kleym does not follow. */
  readonly unclear?: boolean
  /** What the answer would have needed and could not be read. */
  readonly missing: readonly Ignorance[]
  /** What `-o name` lists; `shown` are the findings that are not suppressed. */
  readonly names: (shown: readonly Finding[]) => readonly NamedObject[]
  readonly view: (layout: Layout, shown: readonly Finding[]) => Block
  /** What `-o mermaid` draws, where the answer is a graph. */
  readonly diagram?: (shown: readonly Finding[]) => Promise<Diagram>
}

/** Prints a frame in the format that is asked for. */
export async function finish(
  frame: Frame,
  world: World,
  options: OutputOptions,
  context: CommandContext,
): Promise<Outcome> {
  const judged = judge(frame, world, options)
  return {
    answer: await answerIn(judged, options, context),
    notes: [...world.notes, ...unknownsOf(judged).map((text) => `not known: ${text}`)],
    errors: world.problems.map((problem) => formatError(problemError(problem))),
    exitCode: judged.exitCode,
  }
}

async function answerIn(judged: Judged, options: OutputOptions, context: CommandContext): Promise<string> {
  const { frame } = judged
  switch (options.format) {
    case 'text':
    case 'wide': {
      const layout = {
        width: viewWidth(context),
        wide: options.format === 'wide',
        incomplete: judged.incomplete,
      }
      return render(viewWhole(judged, layout), paletteFor(options.colour, context))
    }
    case 'json':
      return toJson(machineReport(judged))
    case 'yaml':
      return (await import('../output/yaml.ts')).toYaml(machineReport(judged))
    case 'name':
      return toNames(frame.names(judged.shown))
    case 'sarif':
      return toJson((await import('../output/sarif.ts')).toSarif(await ciResult(judged, options, context)))
    case 'junit':
      return (await import('../output/junit.ts')).toJunit(await ciResult(judged, options, context))
    case 'github':
      return (await import('../output/github.ts')).toGithub(await ciResult(judged, options, context))
    case 'mermaid':
      return drawing(judged, await ciResult(judged, options, context))
  }
}

async function ciResult(
  judged: Judged,
  { failOn }: OutputOptions,
  { version }: CommandContext,
): Promise<CiResult> {
  return (await import('./ci-result.ts')).ciResultOf(judged, failOn, version)
}

async function drawing(judged: Judged, result: CiResult): Promise<string> {
  const { diagram } = judged.frame
  // The options refuse it before anything is read.
  if (diagram === undefined) throw new TypeError(`${judged.frame.kind} has no diagram`)
  const { withRemarks } = await import('./diagram.ts')
  const [{ toMermaid }, { summaryText }] = await Promise.all([
    import('../output/mermaid.ts'),
    import('../output/github.ts'),
  ])
  return toMermaid(withRemarks(await diagram(judged.shown), result), summaryText(result))
}

/** What could not be read may change everything that follows: that is said first. */
function viewWhole({ frame, shown, suppressed, aboutSuppressions }: Judged, layout: Layout): Block {
  const view = [...frame.view(layout, shown), ...viewSuppressions(suppressed, aboutSuppressions, layout)]
  if (layout.incomplete !== true) return view
  const text = ' not everything could be read, and what could not may change this answer'
  return [...wrap(line(MARKS.warn, text), { width: layout.width, hang: 2 }), BLANK, ...view]
}

/** Whether a finding is about a namespace, or about the cluster as a whole. */
export function concerns({ subject, related, namespaces }: Finding, namespace: string | undefined): boolean {
  if (namespace === undefined || namespaces?.has(namespace) === true) return true
  const named = [subject, ...related].map((one) => one.namespace).filter((name) => name !== '')
  return named.includes(namespace) || (named.length === 0 && namespaces === undefined)
}

/** The object of a finding in the form of `-o name`. */
export function namedSubject({ subject }: Finding): NamedObject {
  const dot = subject.kind.indexOf('.')
  return {
    kind: dot < 0 ? subject.kind : subject.kind.slice(0, dot),
    group: dot < 0 ? (GROUPS[subject.kind] ?? '') : subject.kind.slice(dot + 1),
    namespace: subject.namespace,
    name: subject.name,
  }
}

const GROUPS: Readonly<Record<string, string>> = {
  InferenceIdentityBinding: 'kleym.sonda.red',
  ClusterSPIFFEID: 'spire.spiffe.io',
  ClusterStaticEntry: 'spire.spiffe.io',
  Deployment: 'apps',
  XAccessPolicy: 'agentic.networking.x-k8s.io',
  InferencePool: 'inference.networking.k8s.io',
}
