// Tenants that edit, create and delete at random: some twenty namespaces of bindings, pools and objectives in which some bindings
// collide, and now and then somebody's hand on an output or a finalizer. All of it from one seed.
import type { Dice } from '../../operator/test/simulation/dice.ts'
import { stringAt, type JsonRecord } from '../../shared/src/core/base/json.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import {
  binding,
  bindingId,
  namespace,
  objective,
  outputId,
  outputsOf,
  pool,
} from '../control-plane/objects.ts'
import { RestError } from '../control-plane/rest.ts'

const POOLS = ['llama', 'gemma', 'mistral'] as const
/** The bindings of one namespace, and how many containers they choose from when edited: a few, so that some collide. */
const PER_NAMESPACE = 100
const BUSY_CONTAINERS = 12

export class Tenants {
  readonly #cp: ControlPlane
  readonly #dice: Dice
  readonly #spaces: readonly string[]
  readonly #bindings: number
  readonly #done = new Map<string, number>()

  constructor(cp: ControlPlane, dice: Dice, bindings: number) {
    this.#cp = cp
    this.#dice = dice
    this.#bindings = bindings
    const count = Math.ceil(bindings / PER_NAMESPACE)
    this.#spaces = Array.from({ length: count }, (_, at) => `team-${String(at).padStart(2, '0')}`)
  }

  /** How often each sort of edit was made. */
  get done(): ReadonlyMap<string, number> {
    return this.#done
  }

  /** All namespaces, pools, objectives and bindings, each binding with a container of its own. */
  objects(): readonly JsonRecord[] {
    const names = Array.from({ length: Math.min(PER_NAMESPACE, this.#bindings) }, (_, at) => nameOf(at))
    return this.#spaces.flatMap((space) => [
      namespace(space),
      ...POOLS.map((name) => poolOf(space, name, 0)),
      ...names.map((name) => objective(space, name, 'llama')),
      ...names.map((name) => binding(space, name, { containerName: name })),
    ])
  }

  /** Makes one edit. What the API server refuses, or does not answer, is not made; anything else rejects. */
  async edit(): Promise<void> {
    const edits: readonly (readonly [name: string, weight: number, act: () => Promise<unknown>])[] = [
      ['container', 30, () => this.#editBinding(() => ({ containerName: this.#container() }))],
      [
        'service account',
        6,
        () => this.#editBinding(() => ({ serviceAccountName: this.#pick(['llama', 'gemma']) })),
      ],
      ['pool of a binding', 6, () => this.#editBinding(() => ({ poolRef: { name: this.#pick(POOLS) } }))],
      ['delete a binding', 15, () => this.#cp.admin.delete(bindingId(this.#space(), this.#name()))],
      ['create a binding', 25, () => this.#createBinding()],
      [
        'labels of a pool',
        2,
        () => this.#cp.admin.apply(poolOf(this.#space(), this.#pick(POOLS), this.#dice.below(3))),
      ],
      ['delete a pool', 0.3, () => this.#cp.admin.delete(idOf(poolOf(this.#space(), this.#pick(POOLS), 0)))],
      ['objective', 5, () => this.#cp.admin.apply(objective(this.#space(), this.#name(), this.#pick(POOLS)))],
      [
        'delete an objective',
        2,
        () => this.#cp.admin.delete(idOf(objective(this.#space(), this.#name(), 'llama'))),
      ],
      [
        'finalizers off',
        2,
        () =>
          this.#cp.admin.patch(bindingId(this.#space(), this.#name()), { metadata: { finalizers: null } }),
      ],
      [
        'edit an output',
        1,
        () => this.#onOutput((name) => this.#cp.admin.patch(outputId(name), { spec: { ttl: '1h' } })),
      ],
      ['delete an output', 1, () => this.#onOutput((name) => this.#cp.admin.delete(outputId(name)))],
    ]
    const edit = this.#dice.weighted(edits.map((one) => [one, one[1]] as const))
    if (edit === undefined) return
    const [name, , act] = edit
    try {
      await act()
      this.#done.set(name, (this.#done.get(name) ?? 0) + 1)
    } catch (error) {
      if (!isNotMade(error)) throw error
    }
  }

  /** Puts back what everything rests on, so that most bindings have an output in the end. */
  async putBack(): Promise<void> {
    await this.#cp.apply(this.#spaces.flatMap((space) => POOLS.map((name) => poolOf(space, name, 0))))
  }

  #editBinding(change: () => JsonRecord): Promise<unknown> {
    return this.#cp.admin.patch(bindingId(this.#space(), this.#name()), { spec: change() })
  }

  #createBinding(): Promise<unknown> {
    const spec = { containerName: this.#container(), poolRef: { name: this.#pick(POOLS) } }
    return this.#cp.admin.create(binding(this.#space(), this.#name(), spec))
  }

  async #onOutput(act: (name: string) => Promise<unknown>): Promise<void> {
    const [output] = await outputsOf(this.#cp, this.#space(), this.#name())
    if (output !== undefined) await act(stringAt(output, 'metadata', 'name') ?? '')
  }

  #space(): string {
    return this.#pick(this.#spaces)
  }

  #name(): string {
    return nameOf(this.#dice.below(PER_NAMESPACE))
  }

  /** Mostly one of its own; else one that others may have. */
  #container(): string {
    return this.#dice.chance(0.5)
      ? nameOf(this.#dice.below(BUSY_CONTAINERS))
      : `own-${this.#dice.below(10_000)}`
  }

  #pick<T>(items: readonly T[]): T {
    const item = this.#dice.pick(items)
    if (item === undefined) throw new TypeError('there is nothing to pick from')
    return item
  }
}

function poolOf(space: string, name: string, shape: number): JsonRecord {
  const shapes = [{ app: name }, { app: name, tier: 'gold' }, { app: 'shared' }]
  return pool(space, name, shapes[shape] ?? { app: name })
}

function nameOf(at: number): string {
  return `chat-${String(at).padStart(3, '0')}`
}

function idOf(object: JsonRecord): Parameters<ControlPlane['admin']['delete']>[0] {
  return {
    apiVersion: String(object['apiVersion']),
    kind: String(object['kind']),
    namespace: stringAt(object, 'metadata', 'namespace') ?? '',
    name: stringAt(object, 'metadata', 'name') ?? '',
  }
}

/** The object is not there, is there already, is being deleted, or the API server is down for a while. */
function isNotMade(error: unknown): boolean {
  return error instanceof RestError || isConnectionLost(error)
}

/** A call that got no answer: the API server is being killed. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^(ECONNREFUSED|ECONNRESET|EPIPE)$/.test(code) ||
    /socket hang up|no answer within|aborted/.test(error.message)
  )
}
