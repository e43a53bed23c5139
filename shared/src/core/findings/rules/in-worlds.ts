// What rules find in all worlds, and what in some: the one place that says which findings depend on which settings.
import { type Analysis, inWorlds, settingsDeciding } from '../../analysis/index.ts'
import { depending, findingKey, withinNamespaces, type Finding } from '../finding/finding.ts'
import { BINDING_KIND } from '../../model/names.ts'
import { findingEntry } from '../registry/findings.ts'
import { driveAtOnce, type Steps } from '../../base/steps.ts'

/** The findings of rules that take no steps, in all worlds. */
export function findingsInWorlds(
  analysis: Analysis,
  find: (analysis: Analysis) => readonly Finding[],
): readonly Finding[] {
  return driveAtOnce(
    findingStepsInWorlds(analysis, function* (world) {
      yield
      return find(world)
    }),
  )
}

/** The findings of rules, in all worlds; one world after the other, so that no two of them are kept. */
export function* findingStepsInWorlds(
  analysis: Analysis,
  find: (analysis: Analysis) => Steps<readonly Finding[]>,
): Steps<readonly Finding[]> {
  const { worlds } = analysis.openSettings
  if (worlds.length === 0) return yield* find(analysis)
  const found: (readonly Finding[])[] = []
  for (const one of inWorlds(analysis))
    found.push(found[worlds[found.length]?.sameAs ?? -1] ?? (yield* find(one)))
  return agreed(analysis, found)
}

/**
 * The findings of the assumed world, each with the settings that it depends on, and the findings that only other worlds show. A
 * namespace has each finding once.
 */
function agreed({ openSettings }: Analysis, found: readonly (readonly Finding[])[]): readonly Finding[] {
  const { worlds, assumptions, areOutputsTakenAsHandled } = openSettings
  const shown = found.map((findings) => new FoundInWorld(findings))
  const told = new Map<string, ReadonlySet<string>>()
  return shown.flatMap((here, at) =>
    here.findings.flatMap((each) => {
      const key = findingKey(each)
      const news = at === 0 ? each : notTold(each, told.get(key))
      if (news === undefined) return []
      told.set(key, (told.get(key) ?? NONE).union(aboutOf(news)))
      const outcomes = shown.map((one) => one.showing(news))
      const on = settingsDeciding(openSettings, outcomes)
      const isOfEffect = isAboutEffect(news)
      // That a fallback gives way to our outputs is part of the premise, which was looked at in every world.
      if (
        areOutputsTakenAsHandled === true &&
        isOfEffect &&
        findingEntry(news.code).noEffect === 'of a fallback'
      )
        return at === 0 ? [news] : []
      // What is wrong with an output that takes effect is so wherever it does, and that is taken for granted.
      const isGranted =
        areOutputsTakenAsHandled === true &&
        worlds.every(({ areOutputsHandled }, index) => outcomes[index] === outcomes[0] || !areOutputsHandled)
      if (at === 0) {
        if (on.length === 0 || (isOfEffect && isGranted)) return [news]
        return [...sureOf(news, shown), depending(news, on)]
      }
      const isElsewhere = worlds.every(
        ({ areOutputsHandled }, index) => outcomes[index] === 'no' || !areOutputsHandled,
      )
      if (isOfEffect && isElsewhere) return []
      return [depending(news, on.length === 0 ? assumptions : on, worlds[at]?.when)]
    }),
  )
}

/** A registration of others that fails to render, or displaces a fallback, is no matter of ours. */
function isAboutEffect({ code, subject }: Finding): boolean {
  const { noEffect } = findingEntry(code)
  return noEffect === 'of any output' || (noEffect !== undefined && subject.kind === BINDING_KIND)
}

const NONE: ReadonlySet<string> = new Set()

/** The namespaces of a finding, and its parts. */
function aboutOf({ namespaces = NONE, parts }: Finding): ReadonlySet<string> {
  if (parts === undefined) return namespaces
  return namespaces.union(new Set([...parts.keys()].map((key) => `part ${key}`)))
}

/** A finding without the namespaces that were told of it; undefined if nothing is left. */
function notTold(one: Finding, told: ReadonlySet<string> | undefined): Finding | undefined {
  if (told === undefined) return one
  const left = aboutOf(one).difference(told)
  if (left.size === 0) return undefined
  const namespaces = (one.namespaces ?? NONE).intersection(left)
  return namespaces.size === 0 ? one : withinNamespaces(one, namespaces)
}

/** Of a finding that is about more in some worlds than in others: what all of them show, as one of them says it. */
function sureOf(one: Finding, shown: readonly FoundInWorld[]): readonly Finding[] {
  const least = one.parts === undefined ? [] : shown.flatMap((world) => world.certain(one))
  return least.filter((each) => shown.every((world) => world.showing(each) === 'yes')).slice(0, 1)
}

/** The findings of one world. */
class FoundInWorld {
  readonly findings: readonly Finding[]
  readonly #byKey: ReadonlyMap<string, readonly Finding[]>

  constructor(findings: readonly Finding[]) {
    this.findings = findings
    this.#byKey = Map.groupBy(findings, findingKey)
  }

  /** Whether this world shows a finding, in all of its namespaces and with all of its parts. */
  showing(one: Finding): 'yes' | 'open' | 'no' {
    const certain = this.certain(one)
    if (certain.length === 0) return this.#same(one).length === 0 ? 'no' : 'open'
    const covered = certain.reduce((sofar, other) => sofar.union(aboutOf(other)), NONE)
    return aboutOf(one).isSubsetOf(covered) ? 'yes' : 'open'
  }

  /** What this world shows for certain of the same thing. */
  certain(one: Finding): readonly Finding[] {
    return this.#same(one).filter(({ dependsOn }) => dependsOn === undefined)
  }

  #same(one: Finding): readonly Finding[] {
    const namespaces = one.namespaces ?? NONE
    return (this.#byKey.get(findingKey(one)) ?? []).filter(
      (other) => namespaces.size === 0 || !namespaces.isDisjointFrom(other.namespaces ?? NONE),
    )
  }
}
