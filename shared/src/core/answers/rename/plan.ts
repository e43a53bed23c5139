// The steps of a rename in their order. Consumers come first: from the moment that a container holds two SVIDs it may present either.
// What each step does to containers was worked out before; here it is put into words, with the command that checks it.
import { onceBy } from '../../base/groups.ts'
import { present } from '../../base/present.ts'
import { dig, stringAt, type JsonRecord } from '../../base/json.ts'
import { OBJECTIVE_KINDS, POOL_KINDS, type Kind, BINDING } from '../../model/kinds.ts'
import { givenByNothing, policyName, type Analysis } from '../../analysis/index.ts'
import { findingEntry } from '../../findings/index.ts'
import { WORKLOAD_KINDS } from '../../model/objects/workload.ts'
import { counted, summaryText } from '../../base/text/counted.ts'
import { groupsOfOld, type Snapshot, objectivesLeading } from '../../snapshot/index.ts'
import { acceptLines, keptLines } from './consumers.ts'
import { type Bridge, type Rename, type RenamedBinding } from './rename.ts'
import { holderKey, type Holder } from '../../model/objects/pod-index.ts'

/** One step. */
export interface RenameStep {
  readonly title: string
  /** What to do, a sentence or a command each. */
  readonly lines: readonly string[]
  /** The command that checks it, and what that shows once the step is done. */
  readonly check: string
  readonly shows: string
  /** Who breaks if it is left out. */
  readonly without: string
}

/** What a plan is put into words with. */
export interface PlanWords {
  readonly analysis: Analysis
  /** The command that asked for the plan. */
  readonly command: string
}

/** The steps, in their order; none if nothing is renamed. */
export function renameSteps(rename: Rename, words: PlanWords): readonly RenameStep[] {
  const { renamed, changes, consumers, question } = rename
  if (renamed.length === 0) return []
  const bridges = bridgesOf(rename)
  const isIssued = renamed.some(({ how }) => how !== 'nothing')
  const isIdNamed = changes.length > 0 || consumers.named.length > 0
  // The old pool or objective stays until somebody deletes it, whether an ID holds its name or not.
  const isOldLeft = question.kind !== 'binding' && renamed.some(({ newId }) => newId !== undefined)
  return [
    ...(changes.length === 0 ? [] : [acceptStep(rename, words)]),
    ...(isIssued ? [issueStep(rename, words)] : []),
    switchStep(rename, words),
    ...(bridges.length === 0 ? [] : [removeBridges(bridges)]),
    ...(isIdNamed || isOldLeft ? [forgetStep(rename, words)] : []),
  ]
}

/** The manifests of the next step that applies some: what issues both IDs as long as that is due, then the bindings of the new name. */
export function manifestsDue({ renamed }: Rename): readonly JsonRecord[] {
  const both = renamed.map(({ how, bridge, manifest }) => {
    if (how === 'beside') return manifest
    return bridge?.isThere === false ? bridge.manifest : undefined
  })
  const due = both.filter((one) => one !== undefined)
  return due.length > 0 ? due : renamed.map(({ manifest }) => manifest).filter((one) => one !== undefined)
}

/** The registrations by hand, each once. */
export function bridgesOf({ renamed }: Rename): readonly Bridge[] {
  const all = renamed.flatMap(({ bridge }) => bridge ?? [])
  return onceBy(all, ({ name }) => name)
}

/** How many containers hold an ID that changes. */
export function holdersOf({ changes, holders }: Rename): number {
  return countOf(changes.flatMap(({ oldId }) => holders.get(oldId) ?? []))
}

function countOf(holders: readonly Holder[]): number {
  return new Set(holders.map(holderKey)).size
}

function acceptStep(rename: Rename, { command }: PlanWords): RenameStep {
  const { changes, consumers, heldElsewhere } = rename
  const { edits } = consumers
  return {
    title: 'Let consumers accept both IDs',
    lines: [
      ...acceptLines(changes, consumers),
      ...heldElsewhere.map(
        (id) => `${id} is held by other containers now: whoever accepts it accepts those too`,
      ),
    ],
    check: command,
    shows: 'its first step says that nothing that was read is left to be changed',
    without:
      edits.length === 0
        ? 'whoever was not read and knows the old ID alone'
        : `${counted(holdersOf(rename), 'container')} with the new ID: no longer named by ${summaryText(new Set(edits.map(({ kind, consumer }) => `${kind} ${consumer}`)))}`,
  }
}

function issueStep(rename: Rename, { command }: PlanWords): RenameStep {
  const { renamed, question, isToBeMade, changes, withBoth, heldElsewhere, effects } = rename
  const beside = renamed.filter(({ how }) => how === 'beside')
  const bridged = renamed.filter(({ bridge }) => bridge !== undefined)
  const due = renamed.some(({ how, bridge, manifest }) =>
    how === 'beside' ? manifest !== undefined : bridge?.isThere === false,
  )
  const count = countOf(withBoth.flat())
  const [first] = changes
  const held = counted(count, 'container')
  const ofFirst = countOf(withBoth[0] ?? [])
  const others =
    first !== undefined && heldElsewhere.includes(first.newId) ? ', and those that hold it now' : ''
  return {
    title: first === undefined ? 'Keep the ID while bindings are edited' : 'Issue both IDs',
    lines: present(
      isToBeMade && beside.length > 0 && makeText(question),
      due ? `${command} -o yaml | kubectl apply -f -` : 'what it takes is there',
      ...beside.map(({ binding, next, newId }) => `binding ${next} gives ${newId} beside ${binding.key}`),
      ...bridged.map(bridgeText),
      first !== undefined && count > 0 && `two SVIDs: from here to the switch ${held} may present either ID`,
      first !== undefined &&
        bridged.some(hasOneHint) &&
        'both have one hint: the Workload API hands out the older alone until the switch; SDS hands out both',
      ...broughtText(effects),
    ),
    check:
      first === undefined
        ? `kubectl kleym who-selects -A --spiffe-id ${renamed[0]?.oldId ?? ''}`
        : `kubectl kleym who-selects -A --spiffe-id ${first.newId}`,
    shows: ofFirst === 0 ? 'what gives it' : `${counted(ofFirst, 'container')} with it${others}`,
    without:
      first === undefined
        ? `whoever names ${renamed[0]?.oldId ?? ''}: its containers hold nothing until SPIRE has acted on the edited bindings`
        : `${held}: at the switch the old ID goes before the new one is there, and whoever they call, or are called by, refuses them`,
  }
}

/** The kinds whose names a rename may be about. */
const RENAMED = {
  pool: POOL_KINDS[0],
  objective: OBJECTIVE_KINDS[0],
  binding: BINDING,
} as const satisfies Readonly<Record<Rename['question']['kind'], Kind>>

function makeText({ kind, namespace, from, to }: Rename['question']): string {
  return `make ${RENAMED[kind].kind} ${namespace}/${to} with the spec of ${from}, and let whatever uses the old one use both`
}

function bridgeText({ bridge, next, newId }: RenamedBinding): string {
  return `ClusterSPIFFEID/${bridge?.name ?? ''}, written by hand, gives ${newId} until binding ${next} does: ${bridge?.because ?? ''}`
}

function hasOneHint({ bridge, binding, oldId, newId }: RenamedBinding): boolean {
  return oldId !== newId && dig(bridge?.manifest, 'spec', 'hint') === binding.key
}

/** The findings that are there in between alone. */
function broughtText({ both, switched, done }: Rename['effects']): readonly string[] {
  const lasting = new Set(done.findings.added.map(({ code }) => code))
  const codes = new Set([both, switched].flatMap(({ findings }) => findings.added.map(({ code }) => code)))
  const passing = [...codes].filter((code) => !lasting.has(code)).toSorted()
  return passing.length === 0
    ? []
    : [`in between kleym reports: ${passing.map((code) => findingEntry(code).title).join('; ')}`]
}

function switchStep(rename: Rename, { analysis, command }: PlanWords): RenameStep {
  const { renamed, question, isToBeMade, consumers, changes } = rename
  const beside = renamed.filter(({ how }) => how === 'beside')
  const own = consumers.edits.filter(({ way, kind }) => way === 'text' && WORKLOADS.has(kind))
  const [first] = changes
  const old = first?.oldId ?? renamed[0]?.oldId
  const bridges = bridgesOf(rename)
  const unchanged =
    question.kind === 'binding'
      ? `nobody: binding ${question.from} keeps its name`
      : `the bindings: they are refused once ${question.from} goes`
  return {
    title: first === undefined ? 'Edit the bindings' : 'Switch to the new ID',
    lines: present(
      isToBeMade && beside.length === 0 && makeText(question),
      ...new Set(
        own.map(
          ({ kind, consumer, where, newId }) =>
            `first ${kind} ${consumer} ${where}: if it asks for its own SVID by ID, let it ask for ${newId}`,
        ),
      ),
      ...objectiveLines(analysis.snapshot, question),
      ...renamed.flatMap((one) => switchLines(one, rename, command)),
      bridges.length > 0 &&
        'InForce of the binding may say Masked until the registration by hand is gone, since the older entry counts',
    ),
    check:
      first === undefined
        ? `kubectl get iib -n ${question.namespace}`
        : `kubectl kleym who-selects -A --spiffe-id ${first.oldId}`,
    shows: first === undefined ? 'Ready for each of them' : 'no container with it',
    without:
      old === undefined
        ? 'nobody: no ID was given'
        : first === undefined
          ? unchanged
          : `nobody at once: the old ID stays with ${counted(holdersOf(rename), 'container')}, and what gives it cannot go`,
  }
}

/** The kinds whose strings may say by which ID a program asks for its own SVID. */
const WORKLOADS: ReadonlySet<string> = new Set([
  'Pod',
  ...WORKLOAD_KINDS.map(({ kind }) => kind),
  'ConfigMap',
])

function objectiveLines(snapshot: Snapshot, question: Rename['question']): readonly string[] {
  return objectivesLeading(snapshot, question).map(({ meta, group, poolRef }) =>
    patchText(
      OBJECTIVE_KINDS.find((one) => one.group === group),
      meta,
      stringAt(poolRef, 'name') === undefined ? undefined : { poolRef: { name: question.to } },
    ),
  )
}

function patchText(
  kind: Kind | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  spec: JsonRecord | undefined,
): string {
  const what = `${kind?.plural ?? ''}.${kind?.group ?? ''} ${name} -n ${namespace}`
  return spec === undefined
    ? `kubectl edit ${what}`
    : `kubectl patch ${what} --type merge -p '${JSON.stringify({ spec })}'`
}

function switchLines(
  { binding, next, how, manifest }: RenamedBinding,
  { question }: Rename,
  command: string,
): readonly string[] {
  const { namespace, name } = binding.meta
  if (binding.key !== next) {
    const deletion = `kubectl delete iib ${name} -n ${namespace}`
    return how === 'beside' || manifest === undefined
      ? [deletion]
      : [`${command} -o yaml > binding.yaml`, deletion, 'kubectl apply -f binding.yaml']
  }
  const ref = question.kind === 'pool' ? 'poolRef' : 'objectiveRef'
  return [
    `kubectl patch iib ${name} -n ${namespace} --type merge -p '${JSON.stringify({ spec: { [ref]: { name: question.to } } })}'`,
  ]
}

function removeBridges(bridges: readonly Bridge[]): RenameStep {
  const [first] = bridges
  return {
    title: 'Remove the registration by hand',
    lines: bridges.map(({ name }) => `kubectl delete clusterspiffeid ${name}`),
    check: `kubectl kleym diff --without clusterspiffeid/${first?.name ?? ''}`,
    shows: 'before the deletion: no container loses an ID',
    without: 'nobody at once: the ID outlives its binding, and nothing maintains it',
  }
}

function forgetStep({ question, consumers, changes, done }: Rename, { analysis }: PlanWords): RenameStep {
  const { kind, namespace, from, to } = question
  const [first] = changes
  const { kind: word, plural } = RENAMED[kind]
  const targeting = kind === 'pool' ? targetsOf(analysis, namespace, from) : []
  const named = new Set(consumers.named.map(({ oldId }) => oldId))
  const gone = new Set(givenByNothing(done.settled, [...named]))
  const kept = [...named].filter((id) => !gone.has(id))
  return {
    title: 'Take the old name away',
    lines: present(
      ...new Set(
        consumers.named
          .filter(({ oldId }) => gone.has(oldId))
          .map((one) => `${one.kind} ${one.consumer}: take the old ID out of ${one.where}`),
      ),
      ...keptLines(kept),
      ...targeting.map((one) => `${one} targets ${word} ${from}: let it target ${to}`),
      ...(kind === 'binding' ? [] : groupsToDelete(analysis.snapshot, question)).map(
        (group) =>
          `kubectl delete ${plural}.${group} ${from} -n ${namespace}, once no route, gateway or objective uses it`,
      ),
    ),
    check:
      first === undefined
        ? `kubectl get iib -n ${namespace}`
        : `kubectl kleym who-selects -A --spiffe-id ${first.oldId}`,
    shows: first === undefined ? 'Ready for each of them' : 'no container with it, and nobody that names it',
    without:
      first === undefined
        ? `nobody: ${word} ${from} stays, and no binding names it`
        : 'nobody at once: whoever is given the old ID later is accepted by all that still name it',
  }
}

/** Two groups have these kinds, and kubectl would take either: so commands name the group. */
function groupsToDelete(snapshot: Snapshot, question: Rename['question']): readonly string[] {
  const groups = groupsOfOld(snapshot, question)
  return groups.length > 0 ? groups : [RENAMED[question.kind].group]
}

/** The policies whose target is a pool. */
function targetsOf({ settled }: Analysis, namespace: string, pool: string): readonly string[] {
  return settled
    .policies()
    .list.filter(
      (one) =>
        one.namespace === namespace &&
        one.targets.some(({ kind, name }) => kind === POOL_KINDS[0].kind && name === pool),
    )
    .map((one) => `${one.kind} ${policyName(one)}`)
}
