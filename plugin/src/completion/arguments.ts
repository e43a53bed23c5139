// The arguments of commands: names of bindings and codes of findings, of policies, pods and workloads, what `completion`
// does.
import { FINDING_CODES, findingEntry } from '@kleym/shared/core/findings/index.ts'
import {
  ACCESS_POLICIES,
  BINDINGS,
  CLUSTER_SPIFFE_IDS,
  OBJECTIVES,
  PODS,
  POOLS,
  WORKLOADS,
} from '@kleym/shared/kube/resources.ts'
import { COMPLETION_ACTIONS } from '../answers/completion/actions.ts'
import type { CompletionLookup } from './lookup.ts'
import { kindAndName, objectWords, type NameScope } from './names.ts'
import { DIRECTIVE, NOTHING, offer, type CompletionCandidate, type Completion } from './protocol.ts'

/** An argument that is being typed. */
export interface ArgumentWord {
  readonly typed: string
  /** The arguments before it. */
  readonly before: readonly string[]
  readonly scope: NameScope
}

type Complete = (word: ArgumentWord, lookup: CompletionLookup | undefined) => Promise<Completion>

/** Names of bindings that are not given yet. */
async function bindingNames(
  { typed, before, scope }: ArgumentWord,
  lookup: CompletionLookup | undefined,
): Promise<Completion> {
  if (lookup === undefined) return NOTHING
  const bindings = await objectWords({ resource: BINDINGS, prefix: '', typed, scope }, lookup)
  return offer(bindings.filter(({ text }) => !before.includes(text)))
}

/** By command; one that is not here takes no arguments. */
const ARGUMENTS: Readonly<Record<string, Complete>> = {
  explain: async ({ typed, before, scope }, lookup) => {
    const bindings =
      lookup === undefined ? [] : await objectWords({ resource: BINDINGS, prefix: '', typed, scope }, lookup)
    const candidates = [...bindings, ...codes(typed)]
    return offer(candidates.filter(({ text }) => !before.includes(text)))
  },
  conflicts: bindingNames,
  diff: bindingNames,
  policies: async ({ typed, before, scope }, lookup) => {
    if (lookup === undefined) return NOTHING
    const policies = await objectWords({ resource: ACCESS_POLICIES, prefix: '', typed, scope }, lookup)
    return offer(policies.filter(({ text }) => !before.includes(text)))
  },
  'who-selects': async ({ typed, before, scope }, lookup) =>
    before.length > 0
      ? NOTHING
      : kindAndName(typed, { kinds: [PODS, ...WORKLOADS, BINDINGS, ...POOLS], scope }, lookup),
  why: async ({ typed, before, scope }, lookup) =>
    before.length > 0 ? NOTHING : kindAndName(typed, { kinds: [PODS, ...WORKLOADS], scope }, lookup),
  suggest: async ({ typed, scope }, lookup) =>
    kindAndName(typed, { kinds: [...POOLS, ...OBJECTIVES, PODS, ...WORKLOADS], scope }, lookup),
  migrate: async ({ typed, scope }, lookup) =>
    kindAndName(typed, { kinds: [CLUSTER_SPIFFE_IDS], scope }, lookup),
  rename: async ({ typed, before, scope }, lookup) =>
    before.length > 0
      ? NOTHING
      : kindAndName(typed, { kinds: [BINDINGS, ...POOLS, ...OBJECTIVES], scope }, lookup),
  completion: async ({ typed, before }) => {
    if (before.length === 0)
      return offer(
        Object.entries(COMPLETION_ACTIONS)
          .filter(([action]) => action.startsWith(typed))
          .map(([text, about]) => ({ text, about })),
      )
    return before.length === 1 && before[0] === 'install'
      ? { candidates: [], directive: DIRECTIVE.folders }
      : NOTHING
  },
}

/** What could stand as an argument of a command. */
export async function completeArgument(
  command: string,
  word: ArgumentWord,
  lookup: CompletionLookup | undefined,
): Promise<Completion> {
  const complete = Object.hasOwn(ARGUMENTS, command) ? ARGUMENTS[command] : undefined
  return complete === undefined ? NOTHING : complete(word, lookup)
}

/** The codes of findings as words that complete what is typed. */
export function codeWords(typed: string): readonly CompletionCandidate[] {
  return FINDING_CODES.filter((code) => code.startsWith(typed.toUpperCase())).map((code) => ({
    text: typed + code.slice(typed.length),
    about: findingEntry(code).title,
  }))
}

/** Codes are offered once their first letter is typed, and go on as it was typed: shells compare letter by letter. */
function codes(typed: string): readonly CompletionCandidate[] {
  return typed === '' ? [] : codeWords(typed)
}
