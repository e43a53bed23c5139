// `conflicts` asked about several clusters: each is read as if it were the only one, and then they are compared.
import { basename, resolve } from 'node:path'
import {
  clusterFindings,
  compareClusters,
  trustDomainOf,
  type ClustersComparison,
} from '@kleym/shared/core/answers/index.ts'
import { takingOutputsAsHandled } from '@kleym/shared/core/analysis/index.ts'
import { compareFindings } from '@kleym/shared/core/findings/index.ts'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { wrongUsage } from '../../io/errors.ts'
import type { CommonOptions } from '../../flags/options.ts'
import { causesOf, policiesIn, type Cause } from '../../frame/causes.ts'
import { mayAssume } from '../../frame/premises.ts'
import { finish } from '../../frame/finish.ts'
import { namedSubject, reported, type Frame } from '../../frame/frame.ts'
import { gather, type GatheredInput } from '../../gather/gather.ts'
import { WHOM_ALL_NAME } from '../../gather/question.ts'
import { countsOf, refusedOf, bindingsIn } from './counts.ts'
import { clustersAnswer, viewClusters } from './clusters-view.ts'

/** A cluster of the question. */
export interface AskedCluster {
  /** The context; the folder as given, or its last part if that is enough. */
  readonly name: string
  /** The options with which it is read. */
  readonly options: CommonOptions
}

/** A cluster that was read. */
interface ReadCluster {
  readonly name: string
  readonly input: GatheredInput
}

/** The clusters of the question: contexts, then folders. Throws a usage error where one is given twice. */
export function askedClusters(
  options: CommonOptions,
  contexts: readonly string[],
  folders: readonly string[],
): readonly AskedCluster[] {
  const names = [...contexts, ...folders]
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw wrongUsage('conflicts', {
      what: 'a cluster is given twice',
      where: twice,
      why: 'it shares all IDs with itself',
      fix: 'name another one, or leave it out',
    })
  const { sources } = options
  const base = { ...options, allNamespaces: true }
  const shortNames = folders.map((folder) => basename(resolve(folder)))
  const isShort = new Set([...contexts, ...shortNames]).size === names.length
  return [
    ...contexts.map((name) => ({
      name,
      options: { ...base, sources: { ...sources, cluster: { ...sources.cluster, context: name } } },
    })),
    ...folders.map((folder, at) => ({
      name: isShort ? (shortNames[at] ?? folder) : folder,
      options: {
        ...base,
        sources: {
          ...sources,
          offline: true,
          files: { files: [folder], recursive: true, kustomize: [], exclude: sources.files.exclude ?? [] },
        },
      },
    })),
  ]
}

/** Compares several clusters. */
export async function runClusters(
  asked: readonly AskedCluster[],
  { output }: CommonOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const question = {
    allNamespaces: true,
    named: [undefined],
    ...WHOM_ALL_NAME,
    clusters: true,
  }
  const read: ReadCluster[] = []
  // One after the other: what two of them are read with at once would be twice the memory.
  for (const { name, options } of asked)
    read.push({ name, input: underPremise(await gather(options, question, context), output) })
  return finish(clustersFrame(read), inputOfAll(read), output, context)
}

/** As each other answer from files: if nothing but the effect of kleym's outputs is open, they are taken as handled. */
function underPremise(input: GatheredInput, { strict = false }: CommonOptions['output']): GatheredInput {
  if (!mayAssume(input, strict)) return input
  const taken = takingOutputsAsHandled(input.after)
  return { ...input, after: taken, before: taken }
}

/** Makes the report. Each cluster by itself is a question of its own. */
export function clustersFrame(read: readonly ReadCluster[]): Frame {
  const [first] = read
  if (first === undefined) throw new TypeError('no cluster was read')
  const comparison = compareClusters(
    read.map(({ name, input }) => ({ name, analysis: input.after })),
    first.input.drive,
  )
  const counts = read.map(({ input }) => ({
    ...countsOf(input, bindingsIn(input, undefined), undefined),
    refused: refusedOf(input, bindingsIn(input, undefined)).count,
  }))
  const sum = (of: (one: (typeof counts)[number]) => number): number =>
    counts.reduce((total, one) => total + of(one), 0)
  return {
    kind: 'ConflictsReport',
    ...reported(
      async () => (await import('./schema.ts')).conflictsReportSchema,
      () => ({
        bindings: sum(({ bindings }) => bindings),
        namespaces: sum(({ namespaces }) => namespaces),
        refused: sum(({ refused }) => refused),
        comparison,
      }),
    ),
    findings: clusterFindings(comparison).toSorted(compareFindings),
    judged: {
      count: sum(({ bindings }) => bindings) + comparison.clusters.reduce((total, { ids }) => total + ids, 0),
      what: 'binding or SPIFFE ID',
    },
    causes: [...read.flatMap(causesIn), ...unfollowedIn(comparison)],
    names: (shown) => shown.map(namedSubject),
    answer: (layout) => clustersAnswer(comparison, layout),
    view: (layout, shown) => viewClusters(comparison, shown, layout),
  }
}

/** The registrations that may give an ID of another cluster, since kleym cannot tell which they give. */
function unfollowedIn({ clusters }: ClustersComparison): readonly Cause[] {
  const of = clusters.flatMap(({ name, unfollowed }) => unfollowed.map((one) => `${name}: ${one}`))
  return of.length === 0 ? [] : [{ leaves: 'a registration', of }]
}

/** What keeps one of the clusters from being known, with its name. */
function causesIn({ name, input }: ReadCluster): readonly Cause[] {
  const { after } = input
  const trustDomain = trustDomainOf({ analysis: after })
  const causes = causesOf(input, {
    judgements: after.now.judgements.values(),
    policies: policiesIn(input, undefined),
    further:
      trustDomain === undefined
        ? [
            {
              leaves: 'a finding',
              text: `whether it gives an ID of another cluster: its trust domain is not known`,
            },
          ]
        : [],
  })
  return causes.map((cause): Cause => {
    if (cause.leaves === 'anything')
      return { ...cause, why: { ...cause.why, what: `${cause.why.what} of cluster ${name}` } }
    if (cause.leaves === 'what depends on a setting') {
      const { assumption } = cause
      return { ...cause, assumption: { ...assumption, what: `${assumption.what} (${name})` } }
    }
    return 'text' in cause ? { ...cause, text: `${name}: ${cause.text}` } : cause
  })
}

/** One input for the frame: what was wrong with any of them. */
function inputOfAll(read: readonly ReadCluster[]): GatheredInput {
  const [first] = read
  if (first === undefined) throw new TypeError('no cluster was read')
  const of = <T>(list: (input: GatheredInput) => readonly T[]): readonly T[] =>
    read.flatMap(({ input }) => list(input))
  const assuming = read.find(({ input }) => input.after.openSettings.areOutputsTakenAsHandled === true)
  return {
    ...(assuming ?? first).input,
    problems: of(({ problems }) => problems),
    marks: [],
    notes: read.flatMap(({ name, input }) => input.notes.map((text) => `${name}: ${text}`)),
    remarks: [...new Set(of(({ remarks = [] }) => remarks))],
    documents: of(({ documents = 0 }) => [documents]).reduce((sum, count) => sum + count, 0),
    isLive: read.every(({ input }) => input.isLive),
    contextName: undefined,
    namespaceInForce: undefined,
  }
}
