// What must hold of a cluster at every look, by what its objects say and by nothing of the operator's own code: never two
// outputs of ours on one container; no output that says what its binding does not say any more, for longer than `boundMs`; no
// binding that should have an output and has none, for longer than that.
import {
  dig,
  isRecord,
  keysOf,
  listAt,
  own,
  stringAt,
  type JsonRecord,
} from '../../shared/src/core/base/json.ts'
import { twoNow } from '../control-plane/never-two.ts'
import { ownerOf, ownerUidOf } from '../control-plane/objects.ts'

/** The objects of one look. */
export interface Look {
  readonly bindings: readonly JsonRecord[]
  readonly pools: readonly JsonRecord[]
  readonly objectives: readonly JsonRecord[]
  readonly outputs: readonly JsonRecord[]
}

/** How long something was not as it should be, from the first look that showed it to the last. */
export interface Spells {
  /** All that are over, in milliseconds. */
  readonly over: readonly number[]
  /** The longest of those and of the ones that go on. */
  readonly longestMs: number
}

/** What an output must say. */
interface Expected {
  readonly key: string
  readonly uid: string
  /** Namespace, service account and container. */
  readonly place: string
  readonly labels: JsonRecord
  readonly spiffeId: string
}

export interface OracleOptions {
  /** For how long a look may go on to show an old output, or none where there should be one, in milliseconds. */
  readonly boundMs: number
  readonly trustDomain: string
}

export class Oracle {
  readonly #options: OracleOptions
  readonly #stale = new Since()
  readonly #late = new Since()
  readonly #broken = new Set<string>()
  #looks = 0

  constructor(options: OracleOptions) {
    this.#options = options
  }

  /** How many looks there were. */
  get looks(): number {
    return this.#looks
  }

  /** A sentence for each rule that was broken, once. */
  get broken(): readonly string[] {
    return [...this.#broken]
  }

  /** For how long outputs said what their bindings did not. */
  get stale(): Spells {
    return this.#stale.spells()
  }

  /** For how long bindings lacked an output. */
  get late(): Spells {
    return this.#late.spells()
  }

  /** How many things are not as they should be. */
  get open(): number {
    return this.#stale.open + this.#late.open
  }

  /** Takes in a look; `nowMs` counts the time in which the operator could act, and need not be that of a clock. */
  look(look: Look, nowMs: number): void {
    this.#looks += 1
    for (const sentence of twoNow(look.outputs)) this.#broken.add(sentence)
    const expected = expectedOutputs(look, this.#options.trustDomain)
    const right = new Set<string>()
    const stale: string[] = []
    for (const output of look.outputs) {
      const key = ownerOf(output)
      if (key === '') continue
      const wanted = expected.get(key)
      if (wanted !== undefined && says(output, wanted)) right.add(key)
      else stale.push(`${stringAt(output, 'metadata', 'name') ?? ''} of ${key}`)
    }
    const late = [...expected.keys()].filter((key) => !right.has(key))
    const { boundMs } = this.#options
    for (const [name, ms] of this.#stale.see(stale, nowMs)) {
      if (ms > boundMs) this.#broken.add(`${name} is in force ${seconds(boundMs)} after it should have gone`)
    }
    for (const [name, ms] of this.#late.see(late, nowMs)) {
      if (ms > boundMs) this.#broken.add(`${name} has no output ${seconds(boundMs)} after it should have one`)
    }
  }
}

/** Since when names have been seen in each look. */
class Since {
  readonly #since = new Map<string, number>()
  readonly #over: number[] = []
  #now = 0

  get open(): number {
    return this.#since.size
  }

  /** For each name, how long it has been seen. */
  see(names: readonly string[], nowMs: number): readonly (readonly [name: string, ms: number])[] {
    this.#now = nowMs
    const seen = new Set(names)
    for (const [name, from] of this.#since) {
      if (seen.has(name)) continue
      this.#since.delete(name)
      this.#over.push(nowMs - from)
    }
    for (const name of seen) if (!this.#since.has(name)) this.#since.set(name, nowMs)
    return [...this.#since].map(([name, from]) => [name, nowMs - from])
  }

  spells(): Spells {
    const open = [...this.#since.values()].map((from) => this.#now - from)
    const longestMs = [...this.#over, ...open].reduce((longest, ms) => Math.max(longest, ms), 0)
    return { over: this.#over, longestMs }
  }
}

/** By binding, the output that it should have: it is not being deleted, what it names is there, and nobody collides with it. */
function expectedOutputs(look: Look, trustDomain: string): ReadonlyMap<string, Expected> {
  const pools = byKey(look.pools)
  const objectives = byKey(look.objectives)
  const valid = look.bindings.flatMap((binding) => {
    const [space, name] = [textAt(binding, 'metadata', 'namespace'), textAt(binding, 'metadata', 'name')]
    if (dig(binding, 'metadata', 'deletionTimestamp') !== undefined) return []
    const poolName = textAt(binding, 'spec', 'poolRef', 'name')
    const objectiveName = textAt(binding, 'spec', 'objectiveRef', 'name')
    const labels = dig(pools.get(`${space}/${poolName}`), 'spec', 'selector', 'matchLabels')
    const objective = objectives.get(`${space}/${objectiveName}`)
    if (!isRecord(labels) || textAt(objective, 'spec', 'poolRef', 'name') !== poolName) return []
    const expected: Expected = {
      key: `${space}/${name}`,
      uid: textAt(binding, 'metadata', 'uid'),
      place: placeOf(
        space,
        textAt(binding, 'spec', 'serviceAccountName'),
        textAt(binding, 'spec', 'containerName'),
      ),
      labels,
      spiffeId: `spiffe://${trustDomain}/ns/${space}/objective/${objectiveName}`,
    }
    return [expected]
  })
  const places = Map.groupBy(valid, ({ place }) => place)
  const alone = valid.filter((one) =>
    (places.get(one.place) ?? []).every((other) => other === one || !meet(one, other)),
  )
  return new Map(alone.map((one) => [one.key, one]))
}

function says(output: JsonRecord, { uid, place, labels, spiffeId }: Expected): boolean {
  const selectors = listAt(output, 'spec', 'workloadSelectorTemplates').map(String)
  const one = (prefix: string): string =>
    selectors.find((text) => text.startsWith(prefix))?.slice(prefix.length) ?? ''
  const found = dig(output, 'spec', 'podSelector', 'matchLabels')
  return (
    ownerUidOf(output) === uid &&
    textAt(output, 'spec', 'spiffeIDTemplate') === spiffeId &&
    placeOf(one('k8s:ns:'), one('k8s:sa:'), one('k8s:container-name:')) === place &&
    isRecord(found) &&
    contains(found, labels) &&
    contains(labels, found)
  )
}

function placeOf(space: string, serviceAccount: string, container: string): string {
  return `${space} ${serviceAccount} ${container}`
}

function meet(left: Expected, right: Expected): boolean {
  return contains(left.labels, right.labels) || contains(right.labels, left.labels)
}

/** Whether all pods with the second labels have the first. */
function contains(wide: JsonRecord, narrow: JsonRecord): boolean {
  return keysOf(wide).every((key) => own(narrow, key) === own(wide, key))
}

function byKey(objects: readonly JsonRecord[]): ReadonlyMap<string, JsonRecord> {
  return new Map(
    objects.map((object) => [
      `${textAt(object, 'metadata', 'namespace')}/${textAt(object, 'metadata', 'name')}`,
      object,
    ]),
  )
}

function textAt(object: unknown, ...path: readonly [string, string?, string?]): string {
  return stringAt(object, ...path) ?? ''
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
