// Work on pods that is done once for those that are alike. The pods of a workload differ in their name, their UID and their node, and
// most work on a pod asks for none of them. No list says what counts: whatever the work asks of a pod is recorded, and another pod
// that answers all of it alike has the same result. What is asked of a field that nobody thought of is recorded too.
import type { Pod } from './pod.ts'
import type { Steps } from '../../base/steps.ts'

/** Something that is asked of a pod. Two answers are the same if they are one value. */
type Question = (pod: Pod) => unknown

/** The fields of a pod whose keys are asked for one by one: some of them are the same for all pods of a workload. */
const BY_KEY = ['ref', 'metadata', 'spec', 'status'] as const satisfies readonly (keyof Pod)[]
const ABSENT = Symbol('absent')

/** What is known of pods that have answered some questions alike: the result, or what is asked next. */
type Known<T> = Result<T> | Asked<T> | undefined

class Result<T> {
  readonly value: T

  constructor(value: T) {
    this.value = value
  }
}

/** A question, and what is known after each answer. Most have one: thousands of workloads ask dozens of questions each. */
class Asked<T> {
  readonly question: Question
  readonly #answer: unknown
  #then: Known<T>
  #others: Map<unknown, Known<T>> | undefined
  /** What was asked of some pods instead: the work takes a short cut for them. */
  instead: Asked<T> | undefined

  constructor(question: Question, answer: unknown) {
    this.question = question
    this.#answer = answer
  }

  after(answer: unknown): Known<T> {
    return answer === this.#answer ? this.#then : this.#others?.get(answer)
  }

  learn(answer: unknown, known: Known<T>): void {
    if (answer === this.#answer) this.#then = known
    else (this.#others ??= new Map()).set(answer, known)
  }
}

/** Of fewer pods it does not pay to find out which are alike. */
const ALIKE_FROM = 200

/**
 * Works on pods, once for those that are alike; a step for each that is not like one before. `take` is given each pod with its result.
 * Pods come namespace by namespace: what was learnt of one is forgotten with it.
 */
export function* workingOn<T>(
  pods: readonly Pod[],
  work: (pod: Pod) => T,
  take: (pod: Pod, result: T) => void,
): Steps<void> {
  const alike = pods.length > ALIKE_FROM ? new PodsAlike(work) : undefined
  let namespace: string | undefined
  for (const pod of pods) {
    if (pod.namespace !== namespace) alike?.forget()
    namespace = pod.namespace
    const before = alike?.find(pod)
    if (before === undefined) yield
    take(pod, before?.value ?? alike?.work(pod) ?? work(pod))
  }
}

/** So many pods are looked at before it is clear whether they are alike. */
const LOOKED_AT = 500

/**
 * Work whose result depends on nothing but the pod that it is given, and on what stays the same from one pod to the next. The result
 * must not ask anything of the pod later: that throws.
 */
export class PodsAlike<T> {
  readonly #work: (pod: Pod) => T
  readonly #questions = new Questions()
  #known: Known<T>
  #asked = 0
  #worked = 0

  constructor(work: (pod: Pod) => T) {
    this.#work = work
  }

  /** The result for a pod, if one that is alike was worked on before. */
  find(pod: Pod): { readonly value: T } | undefined {
    this.#asked += 1
    return findIn(this.#known, pod)
  }

  forget(): void {
    this.#known = undefined
  }

  /** Works on a pod, and remembers for which others the result holds. Hardly any are alike: then nothing is remembered any more. */
  work(pod: Pod): T {
    if (this.#worked > LOOKED_AT && this.#worked > this.#asked / 2) {
      this.#known = undefined
      return this.#work(pod)
    }
    this.#worked += 1
    const recording = new Recording(pod, this.#questions)
    const value = this.#work(recording.pod)
    this.#known = learnt(this.#known, recording.finish(), 0, new Result(value))
    return value
  }
}

function findIn<T>(known: Known<T>, pod: Pod): Result<T> | undefined {
  let here = known
  while (here instanceof Asked && here.instead === undefined) here = here.after(here.question(pod))
  if (!(here instanceof Asked)) return here
  for (let asked: Asked<T> | undefined = here; asked !== undefined; asked = asked.instead) {
    const found = findIn(asked.after(asked.question(pod)), pod)
    if (found !== undefined) return found
  }
  return undefined
}

/** What is known once these questions, from one of them on, have led to a result. */
function learnt<T>(
  known: Known<T>,
  answers: readonly (readonly [Question, unknown])[],
  from: number,
  result: Result<T>,
): Known<T> {
  const next = answers[from]
  // Fewer questions led to it: it holds for more pods.
  if (known instanceof Result) return known
  if (next === undefined) return result
  const [question, answer] = next
  const first = known ?? new Asked<T>(question, answer)
  let asked = first
  while (asked.question !== question) asked = asked.instead ??= new Asked(question, answer)
  asked.learn(answer, learnt(asked.after(answer), answers, from + 1, result))
  return first
}

const RECORDINGS = new WeakMap<Pod, Recording>()

/** Asks a pod something whose answer says less than what it is worked out from: the answer counts, and not that. */
export function answerOf<Answer>(pod: Pod, question: (pod: Pod) => Answer): Answer {
  const recording = RECORDINGS.get(pod)
  return recording === undefined ? question(pod) : recording.ask(question)
}

/** Whether what is asked of a pod is recorded. What differs from pod to pod is then worked out if somebody asks for it, and not before. */
export function isRecorded(pod: Pod): boolean {
  return RECORDINGS.has(pod)
}

/** The questions for what stands in a field, or at one of its keys: one of each, so that they are compared as they are. */
class Questions {
  readonly #of = new Map<keyof Pod | undefined, Map<PropertyKey, Question>>()
  readonly #keysOf = new Map<keyof Pod | undefined, Question>()

  /** What stands at a key of a field, or of the pod itself. */
  at(field: keyof Pod | undefined, key: PropertyKey): Question {
    const ofField = this.#of.get(field) ?? new Map<PropertyKey, Question>()
    this.#of.set(field, ofField)
    const question = ofField.get(key) ?? ((pod) => ownAt(field === undefined ? pod : pod[field], key))
    ofField.set(key, question)
    return question
  }

  /** Which keys there are. */
  keysOf(field: keyof Pod | undefined): Question {
    const question =
      this.#keysOf.get(field) ??
      ((pod) => JSON.stringify(Object.keys((field === undefined ? pod : pod[field]) ?? {})))
    this.#keysOf.set(field, question)
    return question
  }
}

function ownAt(record: unknown, key: PropertyKey): unknown {
  if (typeof record !== 'object' || record === null || !Object.hasOwn(record, key)) return ABSENT
  return Reflect.get(record, key)
}

/** A pod that records what is asked of it. */
class Recording {
  readonly pod: Pod
  readonly #pod: Pod
  readonly #asked = new Map<Question, unknown>()
  readonly #revoke: (() => void)[] = []

  constructor(pod: Pod, questions: Questions) {
    this.#pod = pod
    const byKey = new Map<PropertyKey, object>(
      BY_KEY.map((field) => [field, this.#recorded(pod[field], questions, field)]),
    )
    this.pod = this.#recorded(pod, questions, undefined, byKey)
    RECORDINGS.set(this.pod, this)
  }

  ask<Answer>(question: (pod: Pod) => Answer): Answer {
    const answer = question(this.#pod)
    this.#asked.set(question, answer)
    return answer
  }

  /** What was asked, in order. Nothing can be asked any more. */
  finish(): readonly (readonly [Question, unknown])[] {
    for (const revoke of this.#revoke) revoke()
    return [...this.#asked]
  }

  #recorded<Of extends object>(
    of: Of,
    questions: Questions,
    field: keyof Pod | undefined,
    byKey: ReadonlyMap<PropertyKey, object> = new Map(),
  ): Of {
    const read = (key: PropertyKey): unknown => byKey.get(key) ?? this.ask(questions.at(field, key))
    // Of a copy: what stands in a frozen pod could not be replaced.
    const { proxy, revoke } = Proxy.revocable(
      { ...of },
      {
        get: (_, key) => {
          const answer = read(key)
          return answer === ABSENT ? Reflect.get(Object.prototype, key) : answer
        },
        has: (_, key) => read(key) !== ABSENT || Reflect.has(Object.prototype, key),
        getOwnPropertyDescriptor: (_, key) => {
          const value = read(key)
          return value === ABSENT
            ? undefined
            : { value, writable: true, enumerable: true, configurable: true }
        },
        ownKeys: () => {
          this.ask(questions.keysOf(field))
          return Reflect.ownKeys(of)
        },
      },
    )
    this.#revoke.push(revoke)
    return proxy
  }
}
