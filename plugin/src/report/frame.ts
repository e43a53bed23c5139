// One result model for every output format and for the exit code: a command makes a Frame, and `finish` turns it into
// what is printed. The exit code never depends on the format.
import type { FindingCode } from '@kleym/shared/core/registry/findings.ts'
import { countBySeverity, reaches, type Finding } from '@kleym/shared/core/findings/finding.ts'
import { ignoranceText, type Ignorance } from '@kleym/shared/core/knowledge.ts'
import type { World } from '../gather/gather.ts'
import { EXIT, formatError, type ExitCode } from '../cli/errors.ts'
import { paletteFor, viewWidth, type CommandContext, type Outcome } from '../cli/context.ts'
import type { FailOn, OutputFormat } from '../cli/flags.ts'
import type { OutputOptions } from '../cli/options.ts'
import { report, toJson } from '../output/json.ts'
import { toNames, type NamedObject } from '../output/name.ts'
import { problemError } from '../sources/problem.ts'
import { BLANK, line, MARKS, render, type Block } from '../view/line.ts'
import { wrap } from '../view/wrap.ts'
import type { Layout } from '../view/layout.ts'

export interface Frame {
  /** `kind` of the machine-readable report. */
  readonly kind: string
  /** The fields of the machine-readable report, before findings and summary. */
  readonly fields: Readonly<Record<string, unknown>>
  /** In their total order; the exit code and every format read these. */
  readonly findings: readonly Finding[]
  /** `diff` alone: whether there is any difference. */
  readonly differs?: boolean
  /** `diff` alone: whether an effect rests on a registration that kleym does not follow. */
  readonly unclear?: boolean
  /** What the answer would have needed and could not be read. */
  readonly missing: readonly Ignorance[]
  /** What `-o name` lists. */
  readonly names: readonly NamedObject[]
  readonly view: (layout: Layout) => Block
}

/** Prints a frame in the format that is asked for. */
export async function finish(
  frame: Frame,
  world: World,
  { format, failOn, colour }: OutputOptions,
  context: CommandContext,
): Promise<Outcome> {
  const exitCode = exitCodeOf(frame, world, failOn)
  return {
    answer: await answerIn(format, { ...frame, exitCode }, world, {
      text: () =>
        render(
          viewWhole(frame, {
            width: viewWidth(context),
            wide: format === 'wide',
            incomplete: isIncomplete(frame, world),
          }),
          paletteFor(colour, context),
        ),
    }),
    notes: [
      ...world.notes,
      ...frame.missing.map((why) => `not known: ${ignoranceText(why)}`),
      ...(isUnclear(frame)
        ? [`not known: what a template that kleym does not follow gives (${UNFOLLOWED})`]
        : []),
    ],
    errors: world.problems.map((problem) => formatError(problemError(problem))),
    exitCode,
  }
}

/**
 * 4 where something that could not be read may hide a finding, whatever else was found: the answer is not complete.
 * Else 1 for findings at the threshold or for differences; else 4 where a registration that kleym does not follow may
 * hide a finding, else 0.
 */
export function exitCodeOf(frame: Frame, world: World, failOn: FailOn): ExitCode {
  if (isIncomplete(frame, world)) return EXIT.incomplete
  const failing = failOn !== 'never' && frame.findings.some(({ severity }) => reaches(severity, failOn))
  if (frame.differs === true || failing) return EXIT.findings
  return failOn !== 'never' && isUnclear(frame) ? EXIT.incomplete : EXIT.ok
}

function isIncomplete({ missing }: Frame, { problems }: World): boolean {
  return problems.length > 0 || missing.length > 0
}

/** What could not be read may change everything that follows: that is said first. */
function viewWhole(frame: Frame, layout: Layout): Block {
  if (layout.incomplete !== true) return frame.view(layout)
  const text = ' not everything could be read, and what could not may change this answer'
  return [...wrap(line(MARKS.warn, text), { width: layout.width, hang: 2 }), BLANK, ...frame.view(layout)]
}

/** The code of what kleym does not follow: it could give anything to anybody. */
const UNFOLLOWED: FindingCode = 'KLM413'

function isUnclear({ unclear, findings }: Frame): boolean {
  return unclear === true || findings.some(({ code }) => code === UNFOLLOWED)
}

async function answerIn(
  format: OutputFormat,
  frame: Frame & { readonly exitCode: ExitCode },
  world: World,
  { text }: { readonly text: () => string },
): Promise<string> {
  switch (format) {
    case 'text':
    case 'wide':
      return text()
    case 'json':
      return toJson(machineReport(frame, world))
    case 'yaml':
      return (await import('../output/yaml.ts')).toYaml(machineReport(frame, world))
    case 'name':
      return toNames(frame.names)
  }
}

function machineReport(
  frame: Frame & { readonly exitCode: ExitCode },
  world: World,
): Readonly<Record<string, unknown>> {
  return report(frame.kind, {
    settings: settingsReport(world),
    ...frame.fields,
    findings: frame.findings.map(findingReport),
    summary: countBySeverity(frame.findings),
    missing: frame.missing.map((why) => ({ ...why, text: ignoranceText(why) })),
    problems: world.problems,
    exitCode: frame.exitCode,
  })
}

/** A finding as machines read it. */
export function findingReport(one: Finding): Readonly<Record<string, unknown>> {
  const { code, severity, subject, related, summary, evidence, fix } = one
  return { code, severity, subject, related, summary, evidence, fix, docs: `docs/findings/${code}.md` }
}

function settingsReport({ operator, after }: World): Readonly<Record<string, unknown>> {
  const { trustDomain, className } = operator.config
  return {
    trustDomain: trustDomain.kind === 'set' ? trustDomain.value : null,
    trustDomainSource: operator.trustDomainSource ?? null,
    className,
    classNameSource: operator.classNameSource ?? null,
    scm: {
      source: after.settings.source,
      assumed: after.settings.assumed,
      trustDomain: after.settings.trustDomain ?? null,
      clusterName: after.settings.clusterName ?? null,
      className: after.settings.className ?? null,
      watchClassless: after.settings.watchClassless,
      ignoreNamespaces: after.settings.ignoreNamespaces,
    },
  }
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
  InferencePool: 'inference.networking.k8s.io',
}
