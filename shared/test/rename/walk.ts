// A plan as somebody carries it out: each command and edit of its steps as an object that is put or taken away, one after the other.
import { type JsonRecord, isRecord, stringAt } from '../../src/core/base/json.ts'
import { OBJECTIVE_KIND, POOL_KIND } from '../../src/core/model/kinds.ts'
import { BINDING_KIND } from '../../src/core/model/names.ts'
import { readMeta } from '../../src/core/model/objects/meta.ts'
import { bridgesOf, manifestsDue } from '../../src/core/answers/rename/plan.ts'
import type { Rename } from '../../src/core/answers/rename/rename.ts'

/** One thing that is done. */
export interface Deed {
  readonly step: 'accept' | 'issue' | 'switch' | 'remove' | 'forget'
  readonly put?: JsonRecord
  readonly remove?: JsonRecord
}

/** All that a plan says, in its order. */
export function deedsOf(objects: readonly JsonRecord[], rename: Rename): readonly Deed[] {
  const { question, renamed, consumers, isToBeMade } = rename
  const { namespace, from, to } = question
  const world = [...objects]
  const deeds: Deed[] = []
  const put = (step: Deed['step'], one: JsonRecord): void => {
    const at = world.findIndex((each) => isSame(each, one))
    if (at === -1) world.push(one)
    else world[at] = one
    deeds.push({ step, put: one })
  }
  const remove = (step: Deed['step'], one: JsonRecord): void => void deeds.push({ step, remove: one })
  const find = (kind: string, name: string, place = namespace): readonly JsonRecord[] =>
    world.filter((one) => {
      const meta = readMeta(one)
      return one['kind'] === kind && meta.namespace === place && meta.name === name
    })
  const consumer = (kind: string, key: string): JsonRecord | undefined => {
    const [place = '', name = ''] = key.split('/')
    return find(kind, name, place)[0]
  }
  const kind = { binding: '', pool: POOL_KIND, objective: OBJECTIVE_KIND }[question.kind]
  const make = (step: Deed['step']): void => {
    if (isToBeMade)
      for (const one of find(kind, from)) put(step, { ...one, metadata: { name: to, namespace } })
  }
  for (const { kind: of, consumer: key, where, add, way } of consumers.edits) {
    const one = consumer(of, key)
    if (one !== undefined && way === 'value')
      put(
        'accept',
        withList(one, where, (items) => [...items, add]),
      )
  }
  const areBeside = renamed.some(({ how }) => how === 'beside')
  if (areBeside) make('issue')
  if (renamed.some(({ how }) => how !== 'nothing')) for (const one of manifestsDue(rename)) put('issue', one)
  if (!areBeside) make('switch')
  if (question.kind === 'pool')
    for (const one of world.filter(
      (each) => each['kind'] === OBJECTIVE_KIND && stringAt(each, 'spec', 'poolRef', 'name') === from,
    ))
      if (readMeta(one).namespace === namespace)
        put('switch', withField(one, ['spec', 'poolRef', 'name'], to))
  for (const { binding, next, how, manifest } of renamed) {
    const [own] = find(BINDING_KIND, binding.meta.name)
    if (own === undefined) continue
    if (binding.key === next) {
      const ref = question.kind === 'pool' ? 'poolRef' : 'objectiveRef'
      put('switch', withField(own, ['spec', ref, 'name'], to))
    } else {
      remove('switch', own)
      if (how !== 'beside' && manifest !== undefined) put('switch', manifest)
    }
  }
  for (const { manifest } of bridgesOf(rename)) remove('remove', manifest)
  const old = new Set(rename.changes.flatMap(({ oldId }) => [oldId, oldId.replace('spiffe://', '')]))
  for (const { kind: of, consumer: key, where } of consumers.named) {
    const one = consumer(of, key)
    if (one !== undefined)
      put(
        'forget',
        withList(one, where.replace(/\[\d+\]$/, ''), (items) =>
          items.filter((item) => !old.has(String(item))),
        ),
      )
  }
  if (kind !== '') for (const one of find(kind, from)) remove('forget', one)
  return deeds
}

/** The same objects once something is done. */
export function withDeed(objects: readonly JsonRecord[], { put, remove }: Deed): readonly JsonRecord[] {
  const without = objects.filter((one) => !isSame(one, put ?? remove ?? {}))
  return put === undefined ? without : [...without, put]
}

function isSame(left: JsonRecord, right: JsonRecord): boolean {
  const [a, b] = [readMeta(left), readMeta(right)]
  return (
    left['kind'] === right['kind'] &&
    left['apiVersion'] === right['apiVersion'] &&
    a.namespace === b.namespace &&
    a.name === b.name
  )
}

function withField(value: JsonRecord, [key = '', ...path]: readonly string[], to: unknown): JsonRecord {
  const inner = value[key]
  return { ...value, [key]: path.length === 0 ? to : withField(isRecord(inner) ? inner : {}, path, to) }
}

function withList(
  value: JsonRecord,
  where: string,
  change: (items: readonly unknown[]) => readonly unknown[],
): JsonRecord {
  const path = [...where.matchAll(/\.([A-Za-z]+)|\[(\d+)\]/g)].map(([, key, at]) => key ?? at ?? '')
  const changed = (found: unknown, [key, ...rest]: readonly string[]): unknown => {
    if (key === undefined) return Array.isArray(found) ? change(found) : found
    if (Array.isArray(found))
      return found.map((item: unknown, at) => (String(at) === key ? changed(item, rest) : item))
    return isRecord(found) ? { ...found, [key]: changed(found[key], rest) } : found
  }
  const result = changed(value, path)
  return isRecord(result) ? result : value
}
