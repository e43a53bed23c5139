// From parsed values to the objects that the analysis reads: which ones they are, whether they have what every object
// needs, and without what a manifest must not bring (docs/offline.md, "Sources").
import { BINDING_KIND, IDENTITY_TEST_GROUP, IDENTITY_TEST_KIND } from '@kleym/shared/core/model/names.ts'
import { groupOfApiVersion, kindKey, kindOf, qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import { dig, isRecord, own, stringAt, typeName, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { mentionRules } from '@kleym/shared/core/model/naming/named-in.ts'
import { appliedRecord, LAST_APPLIED } from '@kleym/shared/core/model/objects/applied.ts'
import { isReadByMakers } from '@kleym/shared/core/model/objects/known-makers.ts'
import { namespacedName, type NamespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { isKnownNamespaced, isPodMaker } from '@kleym/shared/core/model/objects/pod-makers.ts'
import { OPENSHIFT_PROVIDER, openshiftRegistrations } from '@kleym/shared/core/analysis/index.ts'
import { readObjectVersion } from '@kleym/shared/core/model/objects/meta.ts'
import { recordAt } from '@kleym/shared/core/model/objects/pod.ts'
import { PART_KINDS } from '@kleym/shared/core/model/objects/spire-makeup.ts'
import { kindsChangedBy, podChangeOf } from '@kleym/shared/core/model/objects/pod-changers.ts'
import type { Origin, RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { annotationAgainst } from './as-written.ts'
import { Budget } from './budget.ts'
import { commandProblem } from './changing-commands.ts'
import type { ParsedDocument } from './document.ts'
import { scopeOfCrd, scopesOf, type KindScope } from './crd-scopes.ts'
import { Door } from './door.ts'
import { embeddedProblem } from './embedded-objects.ts'
import { missOf, type MisspelledObject, type Miss } from './near-miss.ts'
import { failedRead } from './failed-read.ts'
import {
  placeholderIn,
  placeIn,
  placeholderInObject,
  placeholderInType,
  type ManifestPlaceholder,
} from './placeholders.ts'
import { isDirective, lackOf } from './partial-objects.ts'
import { deploying, openly, sourceAddress, type Deploying, type MadeDeployer } from './deployers.ts'
import { placeText, type InputPlace, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOf, reachOfOpenType } from './reach.ts'
import { Sharing } from './sharing.ts'
import { isMarked, mayHoldObjects } from './held-text.ts'
import { ACCOUNT, type WantedKind } from './wanted-kind.ts'

/** What is kept of a document, and how. */
export interface ReadingRules {
  readonly wanted: readonly WantedKind[]
  /** The namespace of objects that name none. */
  readonly namespace: string
  /** Whether objects that carry a UID and a creation time are dumps of live ones, and keep what the server wrote. */
  readonly dumps: boolean
  /** Whether the SPIFFE IDs in objects of any other kind are kept. */
  readonly mentions?: boolean
  /** Whether what others need is noted, since this is compared with another state. */
  readonly isCompared?: boolean
}

/** Where an object stands. */
interface ObjectPlace {
  readonly origin: Origin
  readonly inList: boolean
  /** Whether it may hold placeholders and commands, by the text of its document; and whether objects. */
  readonly isSearched: boolean
  readonly holdsObjects: () => boolean
}

/** Takes the documents that are read, one after the other, and holds what they have. */
export class Collection {
  readonly rules: ReadingRules
  /** What becomes of each document. */
  readonly door = new Door()
  readonly budget: Budget
  /** By type, if it has no placeholders: what is wrong with it if it is nearly a wanted one, and the wanted one that it is. */
  readonly #types = new Map<
    string,
    { readonly miss: Miss | undefined; readonly wanted: WantedKind | undefined }
  >()
  /** What pods have in common. */
  readonly #sharing = new Sharing()
  /** What deploys something. */
  readonly deploying: Deploying[] = []
  /** The addresses of sources of Flux, by how others refer to them. */
  readonly sources = new Map<string, string>()
  /** Objects that hold others, as problems for the case that those do not stand in the files by themselves. */
  readonly embedded: InputProblem[] = []
  /** What is nearly of a kind that is wanted. */
  readonly nearMisses: MisspelledObject[] = []
  /** What CRDs say of the kinds that they define. */
  readonly scopes: KindScope[] = []
  /** If they are noted: where ServiceAccounts stand. */
  readonly accounts = new Map<NamespacedName, Origin>()
  /** If they are noted: objects that say how SPIRE and kleym run. */
  readonly beside: RawObject[] = []
  /** What a controller makes of objects that are not wanted, the same always: taken where it is not there by itself. */
  readonly made: RawObject[] = []
  /** How many objects name no namespace, and were given the one in force. */
  placed = 0
  /** How many were given that of what deploys them, by namespace. */
  readonly given = new Map<string, number>()
  /**
   * The namespaces that what deploys the file that is being read gives to objects that name none; empty: they are not known. Undefined: it
   * gives none.
   */
  namespaces: readonly string[] | undefined
  /** Whether something else changes an object of the file that is being read: then it is not taken. */
  takesAway: ((value: JsonRecord, kind: WantedKind) => boolean) | undefined
  /** Tells how kustomizations change an object of the file, if it deploys something. */
  asMade: ((value: JsonRecord) => MadeDeployer) | undefined

  /** Each object is charged to the budget. */
  constructor(rules: ReadingRules, budget = new Budget()) {
    this.rules = rules
    this.budget = budget
  }

  /** The namespace of an object that names none, if there is one. */
  get namespace(): string | undefined {
    const [namespace, ...others] = this.namespaces ?? [this.rules.namespace]
    return others.length === 0 ? namespace : undefined
  }

  /** Adds the objects of one document. Throws a BudgetSpent. */
  take(parsed: ParsedDocument, file: string): void {
    const isSearched = isMarked(parsed.text)
    let mayHold: boolean | undefined
    const holdsObjects = (): boolean => (mayHold ??= mayHoldObjects(parsed.text))
    const originAt = (path: readonly number[]): Origin => ({
      file,
      document: parsed.document,
      line: path.length === 0 ? parsed.line : parsed.itemLine(path),
    })
    // Lists may hold Lists, no deeper than the readers take.
    const enter = (value: unknown, path: readonly number[]): void => {
      const origin = originAt(path)
      const failed = failedRead(value, this.rules.wanted)
      if (failed !== undefined) {
        const { hasItems, ...problem } = failed
        this.door.hold({ kind: 'failed', where: placeText(origin), ...problem })
        if (hasItems !== true) return
      }
      const items = listItems(value)
      if (items === undefined)
        this.#object(value, { origin, inList: path.length > 0, isSearched, holdsObjects })
      else for (const [at, item] of items.entries()) enter(item, [...path, at])
    }
    enter(parsed.value, [])
  }

  /** Counts a document of a type that no answer uses. */
  skip(type: { readonly kind: string; readonly apiVersion: string }): void {
    const kind = kindKey(type)
    // No API server knows it: it stands beside manifests, for `kubectl kleym test` alone.
    if (kind !== IDENTITY_TESTS) this.door.dismiss({ because: 'kind', kind })
  }

  #object(value: unknown, place: ObjectPlace): void {
    const { origin, inList, isSearched, holdsObjects } = place
    const type = isRecord(value) ? readType(value) : undefined
    if (!isRecord(value) || type === undefined) {
      if (inList && !isRecord(value))
        this.door.hold(incomplete('an item of the list is no object', origin, `it is ${typeName(value)}`))
      else this.#untyped(value, origin)
      return
    }
    const { wanted: allWanted } = this.rules
    const typeKey = `${type.apiVersion} ${type.kind}`
    const untyped = this.#types.has(typeKey) ? undefined : templateOfType(value, type, origin, allWanted)
    if (untyped !== undefined) {
      this.door.hold(untyped)
      return
    }
    const facts = getOrCreate(this.#types, typeKey, () => ({
      miss: missOf(type, allWanted),
      wanted: allWanted.find(({ kind, group }) => kind === type.kind && group === type.group),
    }))
    const { miss } = facts
    if (miss?.kind === 'not served') {
      const { namespace, name } = readObjectVersion(value)
      const { apiVersion, kind } = type
      this.nearMisses.push({ apiVersion, kind, namespace, name, miss, origin })
      return
    }
    const isFromCluster = isDump(value, this.rules)
    const wanted = facts.wanted ?? makerOf(type, value, isFromCluster)
    if (miss !== undefined && wanted !== undefined) {
      // A reference to one of its kind may mean it.
      this.door.hold({
        ...incomplete(`cannot read ${type.kind} of ${type.apiVersion}`, origin, miss.why),
        fix: miss.fix,
        reach: this.#reachOf(value, wanted),
      })
      return
    }
    // What a dump's controllers have made stands in the dump.
    if (wanted?.versions === undefined && !isFromCluster) {
      if (holdsObjects()) this.#noteHeld(value, origin)
      const change = isSearched ? commandProblem(value, origin, allWanted) : undefined
      if (change !== undefined) this.door.hold(change)
      // The fields of a kind that is read name nothing to be fetched: what its containers run may.
      if (facts.wanted !== undefined && isSearched) this.#noteDeployer(value, origin, true)
    }
    const isKept = facts.wanted === undefined && this.#takeMore(value, type, origin, isFromCluster)
    if (wanted !== undefined) this.#takeWanted(value, wanted, place, isFromCluster)
    else if (!isKept) this.skip(type)
  }

  /** An object that is read, unless it is not whole, or is no object yet. */
  #takeWanted(
    value: JsonRecord,
    wanted: WantedKind,
    { origin, isSearched }: ObjectPlace,
    isFromCluster: boolean,
  ): void {
    if (this.takesAway?.(value, wanted) === true) return
    const fault = wanted.isNameless === true ? undefined : metadataFault(value)
    const placeholder =
      fault === undefined && !isFromCluster ? placeholderInObject(value, isSearched) : undefined
    if (fault !== undefined) {
      const reach = reachOf(wanted, {}, JSON.stringify(value))
      this.door.hold({ ...incomplete(`${wanted.kind} whose metadata cannot be read`, origin, fault), reach })
    } else if (placeholder !== undefined)
      this.door.hold(templateProblem(wanted.kind, origin, placeholder, this.#reachOf(value, wanted)))
    else if (isFromCluster || !this.#takeAsPatch(value, wanted, origin)) {
      const isUnread = wanted.isUnread === true
      const named = nonEmpty(stringAt(value, 'metadata', 'namespace'))
      const isPlaced = wanted.namespaced && named === undefined
      const mayBeAnywhere = isUnread && named === undefined && !isKnownNamespaced(wanted)
      const given = isPlaced && !mayBeAnywhere ? this.namespaces : undefined
      if (isPlaced && given === undefined) this.placed++
      const namespaces = given ?? [named ?? this.rules.namespace]
      // A thousand deployers of one folder make a thousand objects of each that is in it.
      const count = Math.max(1, namespaces.length)
      this.budget.charge('objects', count)
      if (wanted.kind === BINDING_KIND) this.budget.charge('bindings', count)
      if (namespaces.length === 0)
        this.door.hold(inOpenNamespace(value, origin, this.#reachOf(value, wanted)))
      for (const namespace of given ?? []) this.given.set(namespace, (this.given.get(namespace) ?? 0) + 1)
      const against = isFromCluster ? undefined : annotationAgainst(value)
      const reach = against === undefined ? [] : this.#reachOf(value, wanted)
      if (against !== undefined && reach.length > 0)
        this.door.hold(otherThanWritten(value, origin, against, reach))
      for (const namespace of namespaces)
        this.door.read({
          ...this.#settle(value, wanted, namespace, isFromCluster),
          origin,
          ...(isUnread && { isUnread }),
          ...(mayBeAnywhere && { mayBeAnywhere }),
        })
    }
  }

  /**
   * Reads what an object of an unread kind says, apart from the pods that it makes: how it changes pods, what it deploys, which
   * IDs it mentions, what it says about another kind. Returns whether anything is kept.
   */
  #takeMore(value: JsonRecord, type: ObjectType, origin: Origin, isFromCluster: boolean): boolean {
    const { namespace, name } = readObjectVersion(value)
    const podChange = podChangeOf(type, name, () => JSON.stringify(value), value)
    if (podChange !== undefined)
      this.door.read({ value: { ...type, metadata: { namespace, name } }, origin, podChange })
    const mentions = this.#mentionsOf(value, type, origin)
    if (mentions !== undefined) this.door.read(mentions)
    if (!isFromCluster) {
      this.#noteDeployer(value, origin)
      this.#noteChanges(value, type, origin)
      if (qualifiedKind(type) === OPENSHIFT_PROVIDER)
        for (const made of openshiftRegistrations()) this.made.push({ value: made, origin, isManifest: true })
    }
    const scope = scopeOfCrd(value)
    if (scope !== undefined) this.scopes.push(scope)
    const isNoted = this.rules.isCompared === true && this.#noteBeside(value, type, origin, isFromCluster)
    return isNoted || mentions !== undefined || podChange !== undefined
  }

  /** What others need of an object that no answer reads. */
  #noteBeside(value: JsonRecord, type: ObjectType, origin: Origin, isFromCluster: boolean): boolean {
    const { namespace, name } = readObjectVersion(value)
    const kind = qualifiedKind(type)
    const places = namespace === '' ? (this.namespaces ?? [this.rules.namespace]) : [namespace]
    if (kind === ACCOUNT) for (const one of places) this.accounts.set(namespacedName(one, name), origin)
    const namespaced = PART_KINDS.get(kind)
    if (namespaced === undefined) return kind === ACCOUNT
    const wanted = { ...type, namespaced }
    if (this.takesAway?.(value, wanted) !== true)
      for (const one of namespaced ? places : [''])
        this.beside.push({ ...this.#settle(value, wanted, one, isFromCluster), origin })
    return true
  }

  /** What is no object by its type may be half of one, hold objects, deploy something, or show nothing of what it is. */
  #untyped(value: unknown, origin: Origin): void {
    const { wanted } = this.rules
    const half = halfTyped(value, wanted)
    if (half !== undefined) this.door.hold({ ...incomplete(half.what, origin, half.why), ...half })
    else if (isSealed(value)) this.door.hold(sealedProblem(origin))
    else {
      this.door.dismiss({ because: 'no object', file: origin.file })
      this.#noteHeld(value, origin)
      this.#noteDeployer(value, origin)
    }
  }

  /** What is kept of an object of any other kind, which mentions SPIFFE IDs; undefined: it mentions none, or is not asked for them. */
  #mentionsOf(value: JsonRecord, type: ObjectType, origin: Origin): RawObject | undefined {
    const mentions = this.rules.mentions === true ? mentionRules(value) : []
    if (mentions.length === 0 || this.takesAway?.(value, { ...type, namespaced: true }) === true)
      return undefined
    const { namespace, name } = readObjectVersion(value)
    const annotations = dig(value, 'metadata', 'annotations')
    const metadata = {
      name,
      namespace: namespace === '' && isKnownNamespaced(type) ? (this.namespace ?? '') : namespace,
      ...(isRecord(annotations) && { annotations }),
    }
    this.budget.charge('objects', 1)
    return { value: { apiVersion: type.apiVersion, kind: type.kind, metadata }, origin, mentions }
  }

  /** Whether an object that is no dump is a patch, or a workload that is no whole one; then that is noted. */
  #takeAsPatch(value: JsonRecord, wanted: WantedKind, origin: Origin): boolean {
    const lack = lackOf(value)
    if (lack === undefined && !isDirective(value)) return false
    const reach = this.#reachOf(value, wanted)
    const [name = ''] = ['name', 'generateName'].flatMap((field) => stringAt(value, 'metadata', field) ?? [])
    this.door.hold(
      lack === undefined
        ? {
            ...incomplete(`${wanted.kind} that is a patch`, origin, 'it has a $patch, which no object has'),
            fix: 'build what it is for: kubectl kleym ... -k DIR, or leave it out: --exclude FILE',
            reach,
          }
        : {
            kind: 'not rendered',
            what: 'left out a workload that is no whole object',
            where: placeText(origin),
            why: `${wanted.kind} ${name} ${lack}`,
            fix: 'build what it is for: kubectl kleym ... -k DIR',
            reach,
            isNoted: true,
          },
    )
    return true
  }

  #noteDeployer(value: unknown, origin: Origin, isRead = false): void {
    const made = isRecord(value) && !isRead ? this.asMade?.(value) : undefined
    const found = (made?.values ?? [value]).flatMap((one) => deploying(one, origin, isRead) ?? [])
    this.deploying.push(
      ...(made?.isChanged === true
        ? found.map((one) => openly(one, 'as a kustomization changes it'))
        : found),
    )
    const source = isRecord(value) ? sourceAddress(value) : undefined
    if (source !== undefined) this.sources.set(...source)
  }

  /** What a policy makes of objects that are read is not what their manifests say. */
  #noteChanges(value: JsonRecord, type: ObjectType, origin: Origin): void {
    const changed = kindsChangedBy(type, JSON.stringify(own(value, 'spec') ?? {}), this.rules.wanted)
    if (changed.length === 0) return
    const kinds = new Set(changed.map(({ kind }) => kind))
    this.door.hold({
      kind: 'not rendered',
      what: `${type.kind} ${readObjectVersion(value).name} may change objects: ${[...kinds].join(', ')}`,
      alike: 'policies may change objects',
      where: placeText(origin),
      why: 'what it makes of them when they are applied is not known',
      fix: 'give the objects as the API server has them, or leave it out: --exclude FILE',
      reach: changed.flatMap((kind) => reachOf(kind, {}, '')).map((one) => ({ ...one, mayBeOutput: true })),
    })
  }

  /** An object may hold others, and so may what is none by its type: in a list, in a mapping by their names, as text. */
  #noteHeld(value: unknown, origin: Origin): void {
    const found = embeddedProblem(value, origin, this.rules.wanted)
    if (found !== undefined) this.embedded.push(found)
  }

  /** What an object that is not read as it stands may be. */
  #reachOf(value: JsonRecord, kind: WantedKind): readonly ProblemReach[] {
    return reachOf(kind, placeIn(value, this.namespace), JSON.stringify(value))
  }

  /** The object with its namespace settled, and without what it must not bring along. */
  #settle(value: JsonRecord, kind: WantedKind, namespace: string, isFromCluster: boolean): RawObject {
    const found = recordAt(value, 'metadata')
    const metadata: Record<string, unknown> = {
      ...(kind.kind === 'Pod' ? this.#sharing.fields(found, SHARED) : found),
    }
    // What was applied of a live object tells what the next apply keeps. Of Pods, which may be very many, it is not kept.
    const applied = isFromCluster && kind.kind !== 'Pod' ? appliedRecord(metadata) : undefined
    delete metadata['managedFields']
    if (!isFromCluster) for (const field of SERVER_FIELDS) delete metadata[field]
    if (kind.namespaced) metadata['namespace'] = namespace
    else delete metadata['namespace']
    const annotations = own(metadata, 'annotations')
    if (isRecord(annotations) && Object.hasOwn(annotations, LAST_APPLIED)) {
      const { [LAST_APPLIED]: _, ...rest } = annotations
      metadata['annotations'] = rest
    }
    const settled: Record<string, unknown> = { ...value, metadata }
    if (isFromCluster) return { value: settled, ...(applied && { applied }) }
    delete settled['status']
    return { value: settled, isManifest: true }
  }
}

/** That an object may be another one than its manifest, by an annotation of it. */
function otherThanWritten(
  value: JsonRecord,
  origin: Origin,
  annotation: string,
  reach: readonly ProblemReach[],
): InputProblem {
  const { namespace, name } = readObjectVersion(value)
  const subject = `${kindOf(value).kind} ${namespace === '' ? name : namespacedName(namespace, name)}`
  return {
    kind: 'not rendered',
    subject,
    what: `${subject} may not be there as its manifest says`,
    alike: 'objects may not be there as their manifests say',
    where: placeText(origin),
    why: `it has ${annotation}, and a tool that knows it leaves the object alone, or makes it for a moment`,
    fix: 'give the object as the API server has it, or leave it out: --exclude FILE',
    reach,
  }
}

/** That an object is in a namespace that what deploys it names later. */
function inOpenNamespace(value: JsonRecord, origin: Origin, reach: readonly ProblemReach[]): InputProblem {
  return {
    kind: 'not rendered',
    what: `cannot tell the namespace of ${kindOf(value).kind} ${readObjectVersion(value).name}`,
    alike: 'objects are in namespaces that are not known',
    where: placeText(origin),
    why: 'metadata has no namespace, and what deploys the folder names one that is not filled in',
    fix: 'write metadata.namespace',
    reach,
  }
}

/** The items of a `List` or `PodList`; those of a typed list do not repeat their kind. */
function listItems(value: unknown): readonly unknown[] | undefined {
  const kind = own(value, 'kind')
  if (typeof kind !== 'string' || !kind.endsWith('List')) return undefined
  if (stringAt(value, 'apiVersion') === undefined) return undefined
  const items = own(value, 'items')
  if (!Array.isArray(items)) return items === null ? [] : undefined
  if (kind === 'List') return items
  const type = { apiVersion: own(value, 'apiVersion'), kind: kind.slice(0, -'List'.length) }
  const typed: unknown[] = []
  // Spread, not Object.assign, which would take a key `__proto__` for the prototype.
  for (const item of items as readonly unknown[]) typed.push(isRecord(item) ? { ...type, ...item } : item)
  return typed
}

/** Whether nothing of a document tells what it is: a text, or all that SOPS leaves of a file (https://getsops.io/docs/). */
function isSealed(value: unknown): boolean {
  if (typeof value === 'string') return !NOTHING_FOUND.test(value)
  const data = stringAt(value, 'data')
  return own(value, 'sops') !== undefined && data !== undefined && placeholderIn(data) !== undefined
}

/** What kubectl prints where a list is empty. */
const NOTHING_FOUND = /^No resources found/

/** That a document is a text which stands for something else, or is encrypted. */
function sealedProblem(origin: Origin): InputProblem {
  return {
    kind: 'malformed',
    what: `cannot read document ${origin.document} of ${origin.file}`,
    where: placeText(origin),
    why: 'it is no object and no part of one: it may be encrypted, or stand for another file',
    fix: 'give what it stands for, or leave it out: --exclude FILE',
  }
}

/** The objects, with what CRDs say of the kinds of those that name no namespace; and how many of them have none. */
export function withScopes(
  objects: readonly RawObject[],
  found: readonly KindScope[],
): { readonly objects: readonly RawObject[]; readonly withoutNamespace: number } {
  if (!objects.some(({ mayBeAnywhere }) => mayBeAnywhere === true)) return { objects, withoutNamespace: 0 }
  const scopes = scopesOf(found)
  let withoutNamespace = 0
  const settled = objects.map((object) => {
    if (object.mayBeAnywhere !== true) return object
    const isNamespaced = scopes.get(kindKey(object.value))
    if (isNamespaced === undefined) return object
    const { mayBeAnywhere: _, ...rest } = object
    if (isNamespaced) return rest
    withoutNamespace++
    const { namespace: __, ...metadata } = recordAt(object.value, 'metadata')
    return { ...object, value: { ...object.value, metadata } }
  })
  return { objects: settled, withoutNamespace }
}

/** An object of any other kind that makes pods, or says what others make, is kept, though its kind is not read. */
function makerOf(
  { group, kind }: ObjectType,
  value: JsonRecord,
  isFromCluster: boolean,
): WantedKind | undefined {
  // Without metadata it has no name, and no cluster takes it: it is the configuration of a tool.
  const isMaker = own(value, 'metadata') !== undefined && isPodMaker(value, { areUnseenShown: isFromCluster })
  return isMaker || isReadByMakers({ group, kind })
    ? { group, kind, namespaced: true, isUnread: true }
    : undefined
}

/** An object whose very type is not filled in yet; undefined for any other. */
function templateOfType(
  value: JsonRecord,
  { kind, apiVersion, group }: ObjectType,
  origin: Origin,
  wanted: readonly WantedKind[],
): InputProblem | undefined {
  const [inKind, inVersion] = [placeholderInType(kind), placeholderInType(apiVersion)]
  const placeholder = inKind ?? inVersion
  if (placeholder === undefined) return undefined
  const text = JSON.stringify(value)
  const possible = wanted.filter(
    (one) => (inKind !== undefined || one.kind === kind) && (inVersion !== undefined || one.group === group),
  )
  return templateProblem('an object', origin, placeholder, [
    ...possible.flatMap((one) => reachOf(one, {}, text)),
    ...reachOfOpenType(text, wanted),
  ])
}

const IDENTITY_TESTS = qualifiedKind({ kind: IDENTITY_TEST_KIND, group: IDENTITY_TEST_GROUP })

interface ObjectType {
  readonly apiVersion: string
  readonly group: string
  readonly kind: string
}

function readType(value: JsonRecord): ObjectType | undefined {
  const kind = nonEmpty(own(value, 'kind'))
  const apiVersion = nonEmpty(own(value, 'apiVersion'))
  if (kind === undefined || apiVersion === undefined) return undefined
  return { apiVersion, group: groupOfApiVersion(apiVersion), kind }
}

/** An object whose kind or group alone is one that is read: skipping it in silence could hide the answer. */
function halfTyped(
  value: unknown,
  wanted: readonly WantedKind[],
): Pick<InputProblem, 'what' | 'why' | 'reach'> | undefined {
  const { kind, group } = kindOf(value)
  const possible = wanted.filter((one) =>
    kind === '' ? group !== '' && one.group === group : one.kind === kind,
  )
  if (possible.length === 0) return undefined
  const text = JSON.stringify(value)
  const reach = possible.flatMap((one) => reachOf(one, {}, text))
  return kind === ''
    ? { what: `an object of ${group} without a kind`, why: `kind is ${typeName(own(value, 'kind'))}`, reach }
    : {
        what: `${kind} without an apiVersion`,
        why: `apiVersion is ${typeName(own(value, 'apiVersion'))}`,
        reach,
      }
}

function metadataFault(value: JsonRecord): string | undefined {
  const metadata = own(value, 'metadata')
  if (!isRecord(metadata)) return `metadata is ${typeName(metadata)}`
  const namespace = own(metadata, 'namespace')
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string')
    return `metadata.namespace is ${typeName(namespace)}, not a string`
  const labels = own(metadata, 'labels') ?? {}
  if (!isRecord(labels)) return `metadata.labels is ${typeName(labels)}, not a mapping`
  const name = own(metadata, 'name')
  if (typeof name === 'string' && name !== '') return undefined
  if (name !== undefined && name !== null && name !== '')
    return `metadata.name is ${typeName(name)}, not a string`
  const prefix = own(metadata, 'generateName')
  if (typeof prefix === 'string' && prefix !== '') return undefined
  return 'metadata has neither name nor generateName'
}

const SERVER_FIELDS = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'selfLink',
] as const
/** What the pods of a workload have in common: work on one that asks for no more is done once for all of them. */
const SHARED = ['labels', 'ownerReferences'] as const

/** Whether an object is a dump of a live one, which nothing must still fill in. */
function isDump(value: JsonRecord, { dumps }: ReadingRules): boolean {
  const metadata = own(value, 'metadata')
  return dumps && ['uid', 'creationTimestamp'].every((field) => nonEmpty(own(metadata, field)) !== undefined)
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** That a document is no object before it is filled in. */
export function templateProblem(
  what: string,
  place: InputPlace,
  { text, fix, problem }: ManifestPlaceholder,
  reach: readonly ProblemReach[] | undefined,
): InputProblem {
  return {
    kind: 'template',
    what: `${what} is a template`,
    alike: 'documents are templates',
    where: placeText(place),
    why: `${text} is not filled in yet${problem === undefined ? '' : `, or is a mistake: ${problem}`}`,
    fix,
    reach,
  }
}

function incomplete(what: string, origin: Origin, why: string): InputProblem {
  return {
    kind: 'incomplete',
    what,
    where: placeText(origin),
    why,
    fix: 'complete the object: apiVersion, kind and metadata.name',
  }
}
