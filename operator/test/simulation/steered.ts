// A simulation that a test drives by hand: one operator, one pool, one objective for each binding, and every request and
// event where the test wants it.
import { listAt, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { BINDINGS, CLUSTER_SPIFFE_IDS, OBJECTIVES, POOLS } from '@kleym/shared/kube/resources.ts'
import { binding, objective, pool } from '@kleym/testing/manifests.ts'
import type { SimulatedCall, Verb } from './calls.ts'
import { differences } from './oracle.ts'
import { metadataOf } from './cluster.ts'
import { Simulation } from './simulation.ts'

const NAMESPACE = 'team-a'

export class SteeredSimulation extends Simulation {
  /** A running operator on a cluster with a pool `llama` and the objectives of these bindings, all settled. */
  static async of(containers: Readonly<Record<string, string>>): Promise<SteeredSimulation> {
    const scenario = new SteeredSimulation(1, { elections: false, scm: false })
    scenario.createObject(POOLS, pool())
    for (const [name, containerName] of Object.entries(containers))
      scenario.createBinding(name, containerName)
    await scenario.start({ leadsFirst: false, workers: 4 })
    await scenario.runUntilQuiet()
    return scenario
  }

  /** A new binding with an objective of its own. */
  createBinding(name: string, containerName: string, spec: JsonRecord = {}): void {
    this.createObject(OBJECTIVES, objective({ name: `chat-${name}` }))
    const laid = { objectiveRef: { name: `chat-${name}` }, containerName, ...spec }
    const { metadata: _, ...rest } = binding({ name, spec: laid })
    this.server.create(BINDINGS, { ...rest, metadata: { namespace: NAMESPACE, name } }, 'user')
  }

  /** Makes an object of the first of some kinds. */
  createObject([resource]: typeof POOLS, object: JsonRecord): void {
    if (resource !== undefined) this.server.create(resource, object, 'user')
  }

  /** One objective more. */
  createObjective(name: string, poolName = 'llama'): void {
    this.createObject(OBJECTIVES, objective({ name, poolRef: { name: poolName } }))
  }

  /** One objective less. */
  deleteObjective(name: string): void {
    const [resource] = OBJECTIVES
    if (resource !== undefined) this.server.delete(resource, { namespace: NAMESPACE, name }, {}, 'user')
  }

  /** A binding is deleted at once, finalizer or not. */
  forceDelete(name: string): void {
    this.deleteBinding(name)
    this.stripFinalizers(name)
  }

  /** The same binding again, under another UID. */
  recreate(name: string): void {
    const { metadata: _, ...rest } = this.server.get(BINDINGS, { namespace: NAMESPACE, name })
    this.forceDelete(name)
    this.server.create(BINDINGS, { ...rest, metadata: { namespace: NAMESPACE, name } }, 'user')
  }

  editBinding(name: string, spec: JsonRecord): void {
    const object = this.server.get(BINDINGS, { namespace: NAMESPACE, name })
    this.server.update(BINDINGS, { ...object, spec: { ...Object(object['spec']), ...spec } }, 'user')
  }

  deleteBinding(name: string): void {
    this.server.delete(BINDINGS, { namespace: NAMESPACE, name }, {}, 'user')
  }

  /** The bindings' finalizers are stripped, whatever they wait for. */
  stripFinalizers(name: string): void {
    this.setFinalizers(name, [])
  }

  /** Somebody writes the finalizers of a binding. */
  setFinalizers(name: string, finalizers: readonly string[]): void {
    this.server.patch(BINDINGS, { namespace: NAMESPACE, name }, { metadata: { finalizers } }, 'user')
  }

  /** The finalizers of a binding; undefined where it is gone. */
  finalizersOf(name: string): readonly unknown[] | undefined {
    const object = this.server.find(BINDINGS, { namespace: NAMESPACE, name })
    return object && listAt(object, 'metadata', 'finalizers')
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
  editOutput(
    object: JsonRecord,
    change: { readonly spec?: JsonRecord; readonly metadata?: JsonRecord },
  ): void {
    const metadata = { ...metadataOf(object), ...change.metadata }
    const spec = { ...Object(object['spec']), ...change.spec }
    this.server.update(CLUSTER_SPIFFE_IDS, { ...object, metadata, spec }, 'user')
  }

  /** What `Ready` says of a binding. */
  reason(name: string, namespace = NAMESPACE): string | undefined {
    return stringAt(this.#ready(name, namespace), 'reason')
  }

  /** In its own words. */
  message(name: string): string | undefined {
    return stringAt(this.#ready(name, NAMESPACE), 'message')
  }

  #ready(name: string, namespace: string): unknown {
    return listAt(this.server.get(BINDINGS, { namespace, name }), 'status', 'conditions').find(
      (condition) => stringAt(condition, 'type') === 'Ready',
    )
  }

  /** Lets everything but requests of this kind happen, without time, and returns the one that is held. */
  async heldRequest(verb: Verb): Promise<SimulatedCall> {
    await this.runUntilQuiet(0, { holds: (call) => call.verb === verb })
    const call = this.calls.requests.find((request) => request.verb === verb)
    if (call === undefined) throw new Error(`no ${verb} was sent:\n${this.trace.slice(-20).join('\n')}`)
    return call
  }

  /** Lets everything happen until nothing is left to do; returns what is wrong then. */
  async problemsOnceQuiet(): Promise<readonly string[]> {
    const isQuiet = await this.runUntilQuiet()
    return [
      ...(isQuiet ? [] : ['it never comes to rest']),
      ...this.problems(),
      ...differences(this.server, this.life),
    ]
  }
}
