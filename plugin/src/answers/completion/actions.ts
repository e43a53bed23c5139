// What `kubectl kleym completion` can be told to do; without a word it explains.

/** The actions, in the order in which help names them. */
export const ACTION_NAMES = ['install', 'script'] as const
/** One of them. */
export type CompletionAction = (typeof ACTION_NAMES)[number]

/** What each does, for those who press Tab. */
export const COMPLETION_ACTIONS: Readonly<Record<CompletionAction, string>> = {
  install: 'Put the completion script into a folder on PATH.',
  script: 'Print the completion script.',
}
