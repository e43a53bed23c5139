// A cluster with SPIRE as files, for tests of `why`: what kubectl and spire-server would dump of it, and what an agent would log.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecord, listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { CONFIG, settledCluster } from '@kleym/testing/manifests.ts'
import { firstSentence } from '@kleym/testing/why-faults.ts'
import {
  isPod,
  objectsOfSlot,
  spireObjects,
  statusOf,
  WHY_INSTALL,
  WHY_NODES,
  workloadStatus,
  type Draft,
  type DraftPod,
  type WhySlot,
} from '@kleym/testing/why-world.ts'
import { inProcess } from './in-process.ts'

const OLD = '2026-01-01T00:00:00Z'
const OLD_SECONDS = '1767225600'
const SETTINGS = [
  '--trust-domain',
  WHY_INSTALL.trustDomain,
  '--clusterspiffeid-class-name',
  WHY_INSTALL.className,
]

/** An object as an API server would dump it. */
export interface Dumped {
  readonly kind: string
  readonly metadata: JsonRecord & { readonly name: string; readonly namespace?: string; readonly uid: string }
  readonly [field: string]: unknown
}

/** Files of one cluster. */
export interface WhyWorld {
  /** What its files are called. */
  readonly name: string
  readonly files: readonly string[]
  readonly objects: readonly Dumped[]
}

/** What is given beside the objects. */
export interface WhyGiven {
  /** A file; empty: none. */
  readonly entries?: string
  /** Its text; null: none. */
  readonly log?: string | null
  /** More of the command line. */
  readonly flags?: readonly string[]
  /** What is not said: when the entries were dumped. */
  readonly isTimeless?: boolean
}

/** What `why` said. */
export interface WhySaid {
  /** The first line, not wrapped. */
  readonly line: string
  readonly broken: string | undefined
  readonly notKnown: string | undefined
  readonly code: number
  /** The chain of the report. */
  readonly chain: unknown
  /** All of the text. */
  readonly text: string
}

/** Writes clusters into a folder of its own, and asks about them. */
export class WhyFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'kleym-why-'))
  #nextUid = 1

  end(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Writes what a cluster holds, and what its SPIRE server would; `more` are objects beside those of the slots. */
  async world(
    name: string,
    slots: readonly WhySlot[],
    {
      scm = {},
      more = [],
    }: { readonly scm?: JsonRecord; readonly more?: readonly (Draft | DraftPod)[] } = {},
  ): Promise<WhyWorld> {
    const bare = [...spireObjects(), ...slots.flatMap(objectsOfSlot), ...more]
    const spaces = bare.filter(
      (one) => one.kind === 'Namespace' && one.metadata.labels?.['tenant'] === 'yes',
    ).length
    // As SCM counts them while all is well.
    const stats = { namespacesSelected: spaces, podsSelected: 1, entriesToSet: 1 }
    const objects = bare
      .map((one) => this.#dumped(one))
      .map((one) => (one.metadata.name === 'why-entry-deleted' ? { ...one, status: { stats } } : one))
    objects.push(...outputsFor(objects))
    this.writeObjects(name, objects)
    this.write(`${name}-scm.json`, {
      apiVersion: 'spire.spiffe.io/v1alpha1',
      kind: 'ControllerManagerConfig',
      clusterName: WHY_INSTALL.cluster,
      trustDomain: WHY_INSTALL.trustDomain,
      className: WHY_INSTALL.className,
      ignoreNamespaces: ['kube-system', 'ibm-.*'],
      ...scm,
    })
    const files = ['--offline', '-f', `${name}.json`, '--scm-config', `${name}-scm.json`, ...SETTINGS]
    const { stdout } = await inProcess(
      ['who-selects', '-A', '--entries', '-o', 'spire', ...files],
      this.folder,
    )
    const held: unknown = JSON.parse(stdout)
    // A server tells when an entry was made.
    const entries = listAt(held, 'entries')
      .filter(isRecord)
      .map((one, at) => ({ ...one, id: `prod.${at}`, created_at: OLD_SECONDS }))
    this.write(`${name}-entries.json`, { entries })
    return { name, files, objects }
  }

  write(file: string, content: unknown): void {
    writeFileSync(join(this.folder, file), JSON.stringify(content))
  }

  writeObjects(name: string, objects: readonly Dumped[]): void {
    this.write(`${name}.json`, { apiVersion: 'v1', kind: 'List', items: objects })
  }

  /** Asks about the container of a slot; the log is that of its own process unless another is given. */
  async asked(
    { name, files, objects }: WhyWorld,
    slot: WhySlot,
    {
      entries = `${name}-entries.json`,
      log = logOf(slot, slot.container, objects),
      flags = [],
      isTimeless = false,
    }: WhyGiven = {},
  ): Promise<WhySaid> {
    const file = `${slot.space}.log`
    writeFileSync(join(this.folder, file), log ?? '')
    const args = [
      'why',
      'llama',
      '-n',
      slot.space,
      '-c',
      slot.container,
      ...(entries === '' ? [] : ['--entries', entries]),
      ...(entries === '' || isTimeless ? [] : ['--as-of', '2026-01-03T00:00:00Z']),
      ...(log === null ? [] : ['--agent-log', file]),
      ...files,
      ...flags,
    ]
    const text = await inProcess(args, this.folder, { COLUMNS: '2000' })
    const { stdout, stderr } = await inProcess([...args, '-o', 'json'], this.folder)
    if (stdout === '') throw new Error(stderr)
    const [chain] = listAt(JSON.parse(stdout), 'chains')
    return {
      line: firstSentence(text.stdout),
      broken: stringAt(chain, 'broken'),
      notKnown: stringAt(chain, 'notKnown'),
      code: text.code,
      chain,
      text: text.stdout,
    }
  }

  /** A dump in which the entries of one pod are changed, or taken out; `more` are entries beside them. */
  entriesWith(
    { name, objects }: WhyWorld,
    { space }: WhySlot,
    change: (one: JsonRecord) => JsonRecord | undefined,
    more: readonly JsonRecord[] = [],
  ): string {
    const uid = uidOf(objects, space)
    const held: unknown = JSON.parse(readFileSync(join(this.folder, `${name}-entries.json`), 'utf8'))
    const entries = listAt(held, 'entries')
      .filter(isRecord)
      .flatMap((one) => (JSON.stringify(one).includes(uid) ? (change(one) ?? []) : one))
    const file = `${name}-${space}-entries.json`
    this.write(file, { entries: [...entries, ...more] })
    return file
  }

  #dumped(object: Draft | DraftPod): Dumped {
    const uid = `00000000-0000-4000-8000-${String(this.#nextUid++).padStart(12, '0')}`
    const status =
      object.kind === 'StatefulSet'
        ? workloadStatus(1)
        : isPod(object)
          ? statusOf(object, { ready: isReady(object) })
          : undefined
    return {
      ...object,
      metadata: { ...object.metadata, uid, creationTimestamp: OLD },
      ...(status && { status }),
    }
  }
}

/** What kleym's operator writes for the bindings among objects. */
function outputsFor(objects: readonly Dumped[]): readonly Dumped[] {
  const config = { ...CONFIG, className: WHY_INSTALL.className }
  const { judgements } = settledCluster(objects, { config }).settled
  return [...judgements.values()].flatMap((one) => {
    if (one.state !== 'ready') return []
    const { output } = one.resolved
    const uid = `uid-of-${output.metadata.name}`
    const stats = { namespacesSelected: 1, podsSelected: 1, entriesToSet: 1 }
    const metadata = { ...output.metadata, uid, creationTimestamp: OLD }
    return [{ ...output, metadata, ...(uid.includes('entry-deleted') && { status: { stats } }) }]
  })
}

function isReady({ spec, metadata }: DraftPod): boolean {
  return metadata.namespace !== WHY_INSTALL.agentSpace || spec.nodeName !== WHY_NODES.notReady
}

/** What an agent logs at DEBUG of a process of a container. */
export function logOf({ pod, space }: WhySlot, container: string, objects: readonly Dumped[]): string {
  const uid = uidOf(objects, space)
  const labels = Object.entries(pod.metadata.labels).map(([key, value]) => `pod-label:${key}:${value}`)
  const values = [`ns:${space}`, 'sa:runner', `pod-uid:${uid}`, `container-name:${container}`, ...labels]
  const selectors = values.map((value) => `type:\\"k8s\\" value:\\"${value}\\"`).join(' ')
  return logLine(
    'debug',
    'PID attested to have selectors',
    `pid=7 selectors="[${selectors}]" subsystem_name=workload_attestor`,
  )
}

/** A line of an agent's log. */
export function logLine(level: string, message: string, fields: string): string {
  return `time="2026-01-02T00:00:00Z" level=${level} msg="${message}" ${fields}\n`
}

/** The UID of the pod in a namespace. */
export function uidOf(objects: readonly Dumped[], space: string): string {
  const pod = objects.find(({ kind, metadata }) => kind === 'Pod' && metadata.namespace === space)
  if (pod === undefined) throw new Error(`there is no pod in ${space}`)
  return pod.metadata.uid
}
