// Tests that pin who holds what in a state: for each namespace the holders of each identity, and that its containers hold no
// others. Whatever container gains or loses an identity makes one of them fail; whatever changes no container breaks none.
import { IDENTITY_TEST_API_VERSION, IDENTITY_TEST_KIND, LOCAL_CONFIG_ANNOTATION } from '../../model/names.ts'
import type { Analysis } from '../../analysis/index.ts'
import type { Steps } from '../../base/steps.ts'
import { compareBytes, compareKeys, distinct } from '../../base/text/bytes.ts'
import {
  findingHolders,
  groupsOf,
  selectorsOf,
  type HoldersFound,
  type IdHolder,
  type NamespaceHolders,
} from './holders.ts'
import { type ContainersWritten, type IdentityTestSpec } from './schema.ts'

/** A test as it is written into a file. */
export interface WrittenTest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> }
  readonly spec: IdentityTestSpec
}

/** What tests cannot pin, a sentence each, and the tests. */
export interface GeneratedTests {
  readonly tests: readonly WrittenTest[]
  readonly leftOut: readonly string[]
  /** Identities whose holders they pin in part, or not at all, a sentence each. */
  readonly unsure: readonly string[]
}

/** Makes tests of what an analysis settles to. One step for each pod. */
export function* generating(analysis: Analysis): Steps<GeneratedTests> {
  const found = yield* findingHolders(analysis)
  const { holders, namespaces, leftOut, unsure } = found
  // A container that may hold anything makes it impossible to say which containers hold an identity and that no other does.
  if (leftOut.length > 0) return { tests: testsByContainer(found), leftOut, unsure }
  const homes = Map.groupBy([...holders.keys()].toSorted(compareBytes), (id) => homeOf(holders.get(id) ?? []))
  const tests = [...homes.keys()].toSorted(compareBytes).map((home) =>
    home === ''
      ? testOf('several-namespaces', { identities: identitiesOf(homes.get(home) ?? [], found) })
      : testOf(`namespace-${home}`, {
          identities: identitiesOf(homes.get(home) ?? [], found),
          rules: [onlyRule(home, namespaces.get(home)?.all ?? [])],
        }),
  )
  return {
    leftOut,
    unsure,
    tests: [...tests, testOf('elsewhere', { rules: elsewhereRules([...namespaces], new Set(homes.keys())) })],
  }
}

/** The namespace of all holders of an ID; empty where they are of several. */
function homeOf(holders: readonly IdHolder[]): string {
  const [first = '', ...others] = new Set(holders.map(({ pod }) => pod.namespace))
  return others.length === 0 ? first : ''
}

function testOf(name: string, spec: IdentityTestSpec): WrittenTest {
  return {
    apiVersion: IDENTITY_TEST_API_VERSION,
    kind: IDENTITY_TEST_KIND,
    metadata: { name, annotations: { [LOCAL_CONFIG_ANNOTATION]: 'true' } },
    spec,
  }
}

function identitiesOf(
  ids: readonly string[],
  { holders, namespaces, notCertain }: HoldersFound,
): NonNullable<IdentityTestSpec['identities']> {
  return ids.map((spiffeID) => {
    const selectors = selectorsOf(spiffeID, holders.get(spiffeID) ?? [], namespaces)
    return { spiffeID, heldBy: notCertain.has(spiffeID) ? { atLeast: selectors } : { exactly: selectors } }
  })
}

type Rule = NonNullable<IdentityTestSpec['rules']>[number]

/** What each container holds, in the namespaces where that is certain. */
function testsByContainer({ namespaces }: HoldersFound): readonly WrittenTest[] {
  const certain = [...namespaces]
    .filter(([, { all }]) => all.every(({ open }) => open === undefined))
    .toSorted(compareKeys)
  return certain.map(([namespace, holders]) =>
    testOf(`namespace-${namespace}`, {
      containers: groupsOf(holders).flatMap(([subject, holder]) => holdsOf(subject, holder)),
      rules: [onlyRule(namespace, holders.all)],
    }),
  )
}

type WrittenContainers = NonNullable<IdentityTestSpec['containers']>[number]

/** What may be held as well cannot be left out of `exactly`. */
function holdsOf(subject: ContainersWritten, { ids, possible }: IdHolder): readonly WrittenContainers[] {
  const held = [...ids].toSorted(compareBytes)
  if (ids.size < possible.size) return held.length === 0 ? [] : [{ subject, holds: { atLeast: held } }]
  return [{ subject, holds: held.length === 0 ? { none: true } : { exactly: held } }]
}

/** No container of a namespace holds any other identity. */
function onlyRule(namespace: string, holders: readonly IdHolder[]): Rule {
  const only = distinct(holders.flatMap(({ possible }) => [...possible]))
  // Who holds them is pinned beside it: that the namespace has other pods now, or none, changes no identity.
  return { everyContainer: { namespace }, holds: only.length === 0 ? { none: true } : { only }, absent: true }
}

/** No container of any other namespace holds any; those of several namespaces keep to what they hold. */
function elsewhereRules(
  namespaces: readonly (readonly [string, NamespaceHolders])[],
  pinned: ReadonlySet<string>,
): Rule[] {
  const shared = namespaces
    .filter(([name, { all }]) => !pinned.has(name) && all.some(({ possible }) => possible.size > 0))
    .toSorted(compareKeys)
  const known = [...pinned, ...shared.map(([name]) => name)]
    .filter((name) => name !== '')
    .toSorted(compareBytes)
  return [
    ...shared.map(([name, { all }]) => onlyRule(name, all)),
    {
      everyContainer: known.length === 0 ? {} : { notInNamespaces: known },
      holds: { none: true },
      absent: true,
    },
  ]
}
