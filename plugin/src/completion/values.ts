// The values of flags: what a flag takes is read off its definition, so that a new flag needs no line here.
import { PODS } from '@kleym/shared/kube/resources.ts'
import {
  kindAndName,
  labelKeyWords,
  NAMED,
  namespaceWords,
  selectorWords,
  sorted,
  type NameScope,
} from './names.ts'
import type { KubeconfigList, CompletionLookup } from './lookup.ts'
import { codeWords } from './arguments.ts'
import { DIRECTIVE, NOTHING, offer, type Completion } from './protocol.ts'
import type { FlagDefinition } from './words.ts'

/** kubectl's own extensions for `-f`. */
const MANIFESTS: Completion = {
  candidates: ['json', 'yaml', 'yml'].map((text) => ({ text })),
  directive: DIRECTIVE.filesOfTypes,
}

/** By the word with which help shows the value. */
const BY_HELP: Readonly<Record<string, Completion>> = {
  'FILE|DIR|-': MANIFESTS,
  FILE: { candidates: [], directive: DIRECTIVE.files },
  DIR: { candidates: [], directive: DIRECTIVE.folders },
}

/** Flags whose values the kubeconfig lists. */
const FROM_KUBECONFIG: Readonly<Record<string, KubeconfigList>> = {
  context: 'contexts',
  cluster: 'clusters',
  user: 'users',
}

/** The command whose selector is about pods; that of others is about bindings, which have few labels. */
const ABOUT_PODS = 'who-selects'

/** A value of a flag that is being typed. */
export interface ValueWord {
  readonly command: string
  /** The long name of the flag. */
  readonly flag: string
  readonly definition: FlagDefinition | undefined
  readonly typed: string
  readonly scope: NameScope
}

/** What could stand as the value of a flag; `lookup` is undefined where no cluster and no kubeconfig may be touched. */
export async function completeValue(
  { command, flag, definition, typed, scope }: ValueWord,
  lookup: CompletionLookup | undefined,
): Promise<Completion> {
  if (definition?.type !== 'option') return NOTHING
  if (definition.options !== undefined)
    return offer(
      definition.options.filter((option) => option.startsWith(typed)).map((text) => ({ text })),
      DIRECTIVE.keepOrder,
    )
  if (flag === 'code') return offer(codeWords(typed))
  const known = BY_HELP[definition.helpValue?.toString() ?? '']
  if (known !== undefined) return known
  if (flag === 'without') return kindAndName(typed, { kinds: NAMED, scope }, lookup)
  if (lookup === undefined) return NOTHING
  if (flag === 'namespace') return offer(await namespaceWords(typed, lookup))
  const pods = { resource: PODS, typed, scope }
  if (flag === 'variant-label-key') return offer(await labelKeyWords(pods, lookup))
  if (flag === 'selector' && command === ABOUT_PODS) return selectorWords(pods, lookup)
  const list = FROM_KUBECONFIG[flag]
  if (list === undefined) return NOTHING
  return offer(sorted((await lookup.kubeconfig(list)).filter((name) => name.startsWith(typed))))
}
