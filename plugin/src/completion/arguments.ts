// The arguments of commands: names of bindings and codes of findings, of policies, pods and workloads, what `completion`
// does.
import { FINDING_CODES, findingEntry } from '@kleym/shared/core/findings/index.ts'
import type { Resource } from '@kleym/shared/kube/api.ts'
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

/** Names of a kind that are not given yet, and other words. */
function names(
  resource: Resource,
  others: (typed: string) => readonly CompletionCandidate[] = () => [],
): Complete {
  return async ({ typed, before, scope }, lookup) => {
    const found =
      lookup === undefined ? [] : await objectWords({ resource, prefix: '', typed, scope }, lookup)
    return offer([...found, ...others(typed)].filter(({ text }) => !before.includes(text)))
  }
}

/** Objects of some kinds. */
function objects(...kinds: readonly Resource[]): Complete {
  return async ({ typed, scope }, lookup) => kindAndName(typed, { kinds, scope }, lookup)
}

/** One object of some kinds, and no more words. */
function oneObject(...kinds: readonly Resource[]): Complete {
  return async (word, lookup) => (word.before.length > 0 ? NOTHING : objects(...kinds)(word, lookup))
}

/** By command; one that is not here takes no arguments. */
const ARGUMENTS: Readonly<Record<string, Complete>> = {
  explain: names(BINDINGS, codes),
  conflicts: names(BINDINGS),
  diff: names(BINDINGS),
  policies: names(ACCESS_POLICIES),
  'who-selects': oneObject(PODS, ...WORKLOADS, BINDINGS, ...POOLS),
  why: oneObject(PODS, ...WORKLOADS),
  suggest: objects(...POOLS, ...OBJECTIVES, PODS, ...WORKLOADS),
  migrate: objects(CLUSTER_SPIFFE_IDS),
  rename: oneObject(BINDINGS, ...POOLS, ...OBJECTIVES),
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
