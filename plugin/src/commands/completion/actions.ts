// What `kubectl kleym completion` can be told to do; without a word it explains.
export const COMPLETION_ACTIONS = {
  install: 'Put the completion script into a folder on PATH.',
  script: 'Print the completion script.',
} as const

export type CompletionAction = keyof typeof COMPLETION_ACTIONS

/** The actions, in the order in which help names them. */
export const ACTION_NAMES = ['install', 'script'] as const satisfies readonly CompletionAction[]
