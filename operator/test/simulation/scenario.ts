// A simulation that a test drives by hand: one operator, one pool, one objective for each binding, and every request and
// event where the test wants it.
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/json.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { binding, objective, pool } from '../../../shared/test/core/build.ts'
import type { Call, Verb } from './calls.ts'
import { differences } from './oracle.ts'
import { metadataOf } from './server.ts'
import { Simulation } from './simulation.ts'

const NAMESPACE = 'team-a'

export class Scenario extends Simulation {
  /** A running operator on a cluster with a pool `llama` and the objectives of these bindings, all settled. */
  static async of(containers: Readonly<Record<string, string>>): Promise<Scenario> {
    const scenario = new Scenario(1)
    scenario.make(POOLS, pool())
    for (const [name, containerName] of Object.entries(containers)) scenario.bind(name, containerName)
    await scenario.start({ leadsFirst: false, workers: 4 })
    await scenario.calm()
    return scenario
  }

  /** A new binding with an objective of its own. */
  bind(name: string, containerName: string, spec: JsonRecord = {}): void {
    this.make(OBJECTIVES, objective({ name: `chat-${name}` }))
    const laid = { objectiveRef: { name: `chat-${name}` }, containerName, ...spec }
    const { metadata: _, ...rest } = binding({ name, spec: laid })
    this.server.create(BINDINGS, { ...rest, metadata: { namespace: NAMESPACE, name } }, 'user')
  }

  /** Makes an object of the first of some kinds. */
  make([resource]: typeof POOLS, object: JsonRecord): void {
    if (resource !== undefined) this.server.create(resource, object, 'user')
  }

  /** One objective more. */
  intend(name: string, poolName = 'llama'): void {
    this.make(OBJECTIVES, objective({ name, poolRef: { name: poolName } }))
  }

  /** One objective less. */
  forgo(name: string): void {
    const [resource] = OBJECTIVES
    if (resource !== undefined) this.server.delete(resource, { namespace: NAMESPACE, name }, {}, 'user')
  }

  /** A binding is deleted at once, finalizer or not. */
  abandon(name: string): void {
    this.unbind(name)
    this.strip(name)
  }

  /** The same binding again, under another UID. */
  recreate(name: string): void {
    const { metadata: _, ...rest } = this.server.get(BINDINGS, { namespace: NAMESPACE, name })
    this.abandon(name)
    this.server.create(BINDINGS, { ...rest, metadata: { namespace: NAMESPACE, name } }, 'user')
  }

  edit(name: string, spec: JsonRecord): void {
    const object = this.server.get(BINDINGS, { namespace: NAMESPACE, name })
    this.server.update(BINDINGS, { ...object, spec: { ...Object(object['spec']), ...spec } }, 'user')
  }

  unbind(name: string): void {
    this.server.delete(BINDINGS, { namespace: NAMESPACE, name }, {}, 'user')
  }

  /** The bindings' finalizers are stripped, whatever they wait for. */
  strip(name: string): void {
    this.server.patch(BINDINGS, { namespace: NAMESPACE, name }, { metadata: { finalizers: [] } }, 'user')
  }

  /** The output of a binding; the first in the order of names. */
  output(name: string): JsonRecord | undefined {
    return this.outputs(name)[0]
  }

  outputs(name: string): readonly JsonRecord[] {
    return this.server
      .all(CLUSTER_SPIFFE_IDS)
      .filter((object) => stringAt(object, 'metadata', 'labels', 'kleym.sonda.red/binding-name') === name)
  }

  /** Changes an output by hand. */
  meddle(object: JsonRecord, change: { readonly spec?: JsonRecord; readonly metadata?: JsonRecord }): void {
    const metadata = { ...metadataOf(object), ...change.metadata }
    const spec = { ...Object(object['spec']), ...change.spec }
    this.server.update(CLUSTER_SPIFFE_IDS, { ...object, metadata, spec }, 'user')
  }

  /** What `Ready` says of a binding. */
  reason(name: string, namespace = NAMESPACE): string | undefined {
    const object = this.server.get(BINDINGS, { namespace, name })
    const ready = listAt(object, 'status', 'conditions').find(
      (condition) => stringAt(condition, 'type') === 'Ready',
    )
    return stringAt(ready, 'reason')
  }

  /** Lets everything but requests of this kind happen, without time, and returns the one that is held. */
  async held(verb: Verb): Promise<Call> {
    await this.calm(0, { holds: (call) => call.verb === verb })
    const call = this.calls.requests.find((request) => request.verb === verb)
    if (call === undefined) throw new Error(`no ${verb} was sent:\n${this.trace.slice(-20).join('\n')}`)
    return call
  }

  /** Everything comes to rest; what is wrong then. */
  async rest(): Promise<readonly string[]> {
    const rests = await this.calm()
    return [...(rests ? [] : ['it never comes to rest']), ...this.problems(), ...differences(this.server)]
  }
}
