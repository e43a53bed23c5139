// An IdentityTest, read without trust: its assertions in order, and all faults with their paths. A test with a fault is not
// run: half a test would pass for a whole one.
import * as z from 'zod/mini'
import { didYouMean } from '../../base/text/suggest.ts'
import { selectorProblem } from '../../model/objects/label-match.ts'
import { isRecord, own, stringAt, typeName } from '../../base/json.ts'
import { readContainerSelector, type ContainerSelector } from './container-selector.ts'
import {
  globPattern,
  idProblem,
  NAMESPACE_CAPTURE,
  prefixPattern,
  trustDomainOf,
  type IdPattern,
} from './id-pattern.ts'
import {
  identityTestSchema,
  type ContainersWritten,
  type IdentityTestSpec,
  type IdentityWritten,
  type RuleWritten,
} from './schema.ts'

/** A path in an object: `['spec', 'containers', 0]`. */
export type FieldPath = readonly (string | number)[]

/** One identity that is asked for. */
export interface WantedIdentity {
  readonly spiffeId: string
  /** The same, to compare with. */
  readonly ids: IdPattern
  /** Undefined: any. */
  readonly hint: string | undefined
  /** `binding/team-a/chat`, `clusterspiffeid/default`; undefined: any. */
  readonly source: string | undefined
}

/** What all assertions have. */
interface AssertionBase {
  readonly path: FieldPath
  readonly description: string | undefined
  /** Whether it may match nothing. */
  readonly absent: boolean
}

/** What containers hold. */
export interface ContainerAssertion extends AssertionBase {
  readonly kind: 'containers'
  readonly subject: ContainerSelector
  readonly mode: 'exactly' | 'atLeast'
  /** Empty: none. */
  readonly wanted: readonly WantedIdentity[]
}

/** Who holds an identity. */
export interface IdentityAssertion extends AssertionBase {
  readonly kind: 'identities'
  readonly ids: IdPattern
  readonly mode: 'exactly' | 'atLeast'
  /** Empty: no container. */
  readonly holders: readonly ContainerSelector[]
}

/** What a binding comes to. */
export interface BindingAssertion extends AssertionBase {
  readonly kind: 'bindings'
  readonly name: string
  readonly ready: boolean | undefined
  readonly reason: string | undefined
  readonly spiffeId: string | undefined
}

/** Where identities may be, and where not. */
export interface PlaceAssertion extends AssertionBase {
  readonly kind: 'places'
  readonly ids: IdPattern
  readonly where: 'onlyIn' | 'neverIn'
  readonly containers: ContainerSelector
  /** Whether the namespace is what the pattern's `{namespace}` stands for. */
  readonly inCaptured: boolean
}

/** What every container of some holds. */
export interface EveryAssertion extends AssertionBase {
  readonly kind: 'every'
  readonly containers: ContainerSelector
  readonly atMost: number | undefined
  readonly atLeast: number | undefined
  /** Undefined: any. */
  readonly only: readonly IdPattern[] | undefined
}

/** One assertion of a test. */
export type Assertion =
  | ContainerAssertion
  | IdentityAssertion
  | BindingAssertion
  | PlaceAssertion
  | EveryAssertion

/** A test that can be run. */
export interface IdentityTest {
  readonly name: string
  readonly assertions: readonly Assertion[]
}

/** What is wrong with a test. */
export interface TestFault {
  readonly path: FieldPath
  readonly why: string
  readonly fix: string
}

/** What a test is read with. */
export interface TestReading {
  /** The canonical kind of a written one, such as `deploy`; undefined for none that has pods. */
  readonly kindOf: (written: string) => string | undefined
  readonly workloadKinds: readonly string[]
  /** SCM's, and kleym's; empty: they are not known. */
  readonly trustDomains: ReadonlySet<string>
}

/** Reads a test; never throws. */
export function readIdentityTest(value: unknown, reading: TestReading): IdentityTest | readonly TestFault[] {
  const parsed = identityTestSchema().safeParse(value)
  if (!parsed.success) {
    const faults = parsed.error.issues.flatMap((issue) => faultsOf(issue, value))
    // Of another kind or version, the rest is judged by the wrong schema.
    const ofType = faults.filter(({ path: [first] }) => first === 'apiVersion' || first === 'kind')
    return ofType.length > 0 ? ofType : faults
  }
  const faults: TestFault[] = [...droppedLabels(own(value, 'spec'), ['spec'])]
  const assertions = new AssertionReader(reading, faults).read(parsed.data.spec)
  return faults.length > 0 ? faults : { name: parsed.data.metadata.name, assertions }
}

/** The labels that the schema drops without a word: no mapping that it reads has such a key. */
function droppedLabels(value: unknown, path: FieldPath): readonly TestFault[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => droppedLabels(one, [...path, at]))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, one]) =>
    key === '__proto__'
      ? [{ path: [...path, key], why: 'no label has this name', fix: 'take it away' }]
      : droppedLabels(one, [...path, key]),
  )
}

interface Issue {
  readonly code?: string | undefined
  readonly message: string
  readonly path: readonly PropertyKey[]
  readonly keys?: readonly string[]
  /** The type that is asked for, and the values of an enumeration. */
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly errors?: readonly (readonly Issue[])[]
}

/** More faults of one test than a person mends at once. */
const SHOWN_MAX = 20

function faultsOf(issue: Issue, value: unknown, above: FieldPath = []): readonly TestFault[] {
  const path = [...above, ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))]
  if (issue.code === 'unrecognized_keys')
    return (issue.keys ?? []).slice(0, SHOWN_MAX).map((key) => ({
      path: [...path, key],
      why: `there is no field ${short(key)} here`,
      fix: didYouMean(key, fieldsAt(path)) ?? `the fields are ${fieldsAt(path).join(', ')}`,
    }))
  // A mapping was meant where a mapping stands: its own faults say more than "neither of two".
  const found = valueAt(value, path)
  const inner = issue.errors?.findLast(
    (one) =>
      isRecord(found) && one.some(({ path: at, code }) => at.length > 0 || code === 'unrecognized_keys'),
  )
  if (inner !== undefined) return inner.flatMap((one) => faultsOf(one, value, path))
  const missing = found === undefined
  return [
    {
      path,
      why: missing
        ? 'it is missing'
        : `it ${issue.message}${isRecord(found) || Array.isArray(found) ? '' : `, and is ${shownValue(found)}`}`,
      fix: missing ? `add ${String(path.at(-1) ?? 'it')}` : valueFix(issue, found),
    },
  ]
}

/** What to write instead of a wrong value, if that is known. */
function valueFix({ code, expected, values = [] }: Issue, found: unknown): string {
  if (typeof found === 'string') {
    if (code === 'invalid_type' && expected === 'array') return `write it as a list: [${short(found)}]`
    const hint = code === 'invalid_value' ? didYouMean(found, values.map(String)) : undefined
    if (hint !== undefined) return hint
  }
  return 'correct it; the fields are in docs/reference/identity-test.md'
}

function valueAt(value: unknown, path: FieldPath): unknown {
  let at = value
  for (const key of path)
    at = Array.isArray(at) ? (at as readonly unknown[])[Number(key)] : own(at, String(key))
  return at
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? short(JSON.stringify(value)) : typeName(value)
}

function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text
}

/** The fields of the mapping at a path, for did-you-mean. */
function fieldsAt(path: FieldPath): readonly string[] {
  const here = path.reduce<unknown>((at, key) => {
    const schema = plain(at)
    if (schema instanceof z.ZodMiniArray) return schema.def.element
    return schema instanceof z.ZodMiniObject ? own(schema.shape, String(key)) : undefined
  }, identityTestSchema())
  const schema = plain(here)
  return schema instanceof z.ZodMiniObject ? Object.keys(schema.shape) : []
}

/** A schema without what may be left out, and the mapping of several that may stand in its place. */
function plain(schema: unknown): unknown {
  if (schema instanceof z.ZodMiniOptional) return plain(schema.def.innerType)
  if (!(schema instanceof z.ZodMiniUnion)) return schema
  return schema.def.options.find((one: unknown) => one instanceof z.ZodMiniObject)
}

/** Reads what the schema has let through, and looks at what it cannot. */
class AssertionReader {
  readonly #reading: TestReading
  readonly #faults: TestFault[]

  constructor(reading: TestReading, faults: TestFault[]) {
    this.#reading = reading
    this.#faults = faults
  }

  read({
    containers = [],
    identities = [],
    bindings = [],
    rules = [],
  }: IdentityTestSpec): readonly Assertion[] {
    return [
      ...containers.map((one, at): Assertion => {
        const path = ['spec', 'containers', at]
        const mode = one.holds.atLeast === undefined ? 'exactly' : 'atLeast'
        const list = one.holds[mode] ?? []
        return {
          kind: 'containers',
          ...baseOf(one, path),
          subject: this.#selector(one.subject, [...path, 'subject']),
          mode,
          wanted: list.map((each, index) => this.#wanted(each, [...path, 'holds', mode, index])),
        }
      }),
      ...identities.map((one, at): Assertion => {
        const path = ['spec', 'identities', at]
        const mode = one.heldBy.atLeast === undefined ? 'exactly' : 'atLeast'
        const list = one.heldBy[mode] ?? []
        return {
          kind: 'identities',
          ...baseOf(one, path),
          ids: this.#glob(one.spiffeID, [...path, 'spiffeID']),
          mode,
          holders: list.map((each, index) => this.#selector(each, [...path, 'heldBy', mode, index])),
        }
      }),
      ...bindings.map((one, at): Assertion => {
        const path = ['spec', 'bindings', at]
        if (one.spiffeID !== undefined) this.#checkId(one.spiffeID, 'id', [...path, 'spiffeID'])
        const { name, ready, reason, spiffeID } = one
        return { kind: 'bindings', ...baseOf(one, path), name, ready, reason, spiffeId: spiffeID }
      }),
      ...rules.map((one, at) => this.#rule(one, ['spec', 'rules', at])),
    ]
  }

  #rule(rule: RuleWritten, path: FieldPath): Assertion {
    const base = baseOf(rule, path)
    if (rule.everyContainer !== undefined) {
      const { atMost, atLeast, only, none } = rule.holds ?? {}
      return {
        kind: 'every',
        ...base,
        containers: this.#selector(rule.everyContainer, [...path, 'everyContainer']),
        atMost: none === true ? 0 : atMost,
        atLeast,
        only: only?.map((text, at) => this.#glob(text, [...path, 'holds', 'only', at])),
      }
    }
    const where = rule.onlyIn === undefined ? 'neverIn' : 'onlyIn'
    const { namespace, ...rest } = rule.onlyIn ?? rule.neverIn ?? {}
    const inCaptured = namespace === NAMESPACE_CAPTURE
    if (inCaptured && rule.identitiesBelow?.includes(NAMESPACE_CAPTURE) !== true)
      this.#fault(
        [...path, where, 'namespace'],
        `${NAMESPACE_CAPTURE} stands for nothing`,
        `write ${NAMESPACE_CAPTURE} into identitiesBelow too: spiffe://example.org/ns/${NAMESPACE_CAPTURE}/`,
      )
    const written = inCaptured || namespace === undefined ? rest : { namespace, ...rest }
    return {
      kind: 'places',
      ...base,
      ids:
        rule.identitiesBelow === undefined
          ? this.#glob(rule.spiffeID ?? '', [...path, 'spiffeID'])
          : prefixPattern(this.#checkId(rule.identitiesBelow, 'prefix', [...path, 'identitiesBelow'])),
      where,
      containers: this.#selector(written, [...path, where]),
      inCaptured,
    }
  }

  #selector(written: ContainersWritten, path: FieldPath): ContainerSelector {
    const { kindOf, workloadKinds } = this.#reading
    const selector = readContainerSelector(written, kindOf)
    for (const [field, labels] of [
      ['namespaceSelector', selector.namespaceLabels],
      ['podSelector', selector.podLabels],
    ] as const) {
      const problem = selectorProblem(labels)
      if (problem !== undefined)
        this.#fault([...path, field], problem, 'correct it: the API server would refuse such a selector')
    }
    const [kind = '', name = ''] = written.workload?.split('/') ?? []
    if (kindOf(kind) === 'Pod')
      this.#fault([...path, 'workload'], 'a pod is no workload', `write pod: ${name} in its place`)
    if (written.workload !== undefined && kindOf(kind) === undefined)
      this.#fault(
        [...path, 'workload'],
        `kleym knows no workload of kind ${kind}`,
        didYouMean(kind, workloadKinds) ?? `name one of ${workloadKinds.join(', ')}`,
      )
    return selector
  }

  #wanted(written: IdentityWritten, path: FieldPath): WantedIdentity {
    const isText = typeof written === 'string'
    const { spiffeID: spiffeId, hint, source } = isText ? { spiffeID: written } : written
    this.#checkId(spiffeId, 'id', isText ? path : [...path, 'spiffeID'])
    return { spiffeId, ids: globPattern(spiffeId), hint, source }
  }

  #glob(text: string, path: FieldPath): IdPattern {
    return globPattern(this.#checkId(text, 'pattern', path))
  }

  /** SPIRE gives no container an ID of another trust domain: such an assertion could only be a slip. */
  #checkId(text: string, form: 'id' | 'pattern' | 'prefix', path: FieldPath): string {
    const problem = idProblem(text, form)
    const { trustDomains } = this.#reading
    if (problem !== undefined) {
      this.#fault(
        path,
        `${short(JSON.stringify(text))} is no SPIFFE ID: ${problem}`,
        'write it like spiffe://example.org/ns/team-a/objective/chat',
      )
    } else if (trustDomains.size > 0 && !trustDomains.has(trustDomainOf(text))) {
      const ours = [...trustDomains]
      this.#fault(
        path,
        `the ID is of trust domain ${short(trustDomainOf(text))}, and that of this install is ${ours.join(' or ')}`,
        `write spiffe://${ours[0]}/..., or give the trust domain that is meant with --trust-domain`,
      )
    }
    return text
  }

  #fault(path: FieldPath, why: string, fix: string): void {
    this.#faults.push({ path, why, fix })
  }
}

function baseOf(
  {
    description,
    absent,
  }: { readonly description?: string | undefined; readonly absent?: boolean | undefined },
  path: FieldPath,
): AssertionBase {
  return { path, description, absent: absent === true }
}

/** `spec.containers[0].subject`. */
export function fieldText(path: FieldPath): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  )
}

/** The name of a test, however wrong the rest of it is. */
export function testName(value: unknown): string {
  return stringAt(value, 'metadata', 'name') ?? ''
}
