// What a completion is, and how kubectl reads it from a plugin: a candidate per line with its description after a tab,
// and a directive for the shell on the last line, as cobra's programs print them.
// https://github.com/kubernetes/kubectl/blob/v0.37.1/pkg/cmd/plugin/plugin_completion.go and
// https://github.com/spf13/cobra/blob/v1.10.2/completions.go
import { isUnsafe } from '../io/escape.ts'

/** What the shell is told to do with the candidates, by cobra's names; sums are allowed. */
export const DIRECTIVE = {
  /** Files may follow where there is no candidate. */
  files: 0,
  /** No space after the candidate: the word goes on. */
  noSpace: 2,
  /** No files where there is no candidate. */
  noFiles: 4,
  /** The candidates are file extensions: files of these, and folders. */
  filesOfTypes: 8,
  /** Folders only. */
  folders: 16,
  /** In the order given. */
  keepOrder: 32,
} as const

/** One word that could stand there. */
export interface CompletionCandidate {
  /** The whole word; after `--flag=`, the value alone, as the shells of cobra's scripts want it. */
  readonly text: string
  readonly about?: string
}

/** All of them, and what the shell is to do with them. */
export interface Completion {
  readonly candidates: readonly CompletionCandidate[]
  /** A sum of DIRECTIVEs. */
  readonly directive: number
}

/** Nothing to offer, and no files either. */
export const NOTHING: Completion = { candidates: [], directive: DIRECTIVE.noFiles }

/** Candidates that no files stand in for. */
export function offer(candidates: readonly CompletionCandidate[], directive: number = 0): Completion {
  return { candidates, directive: directive + DIRECTIVE.noFiles }
}

/**
 * The lines for kubectl. A candidate goes to a shell: one that holds anything but the characters of names, paths and
 * flags is left out, since escaping it would name something else.
 */
export function printCompletion({ candidates, directive }: Completion): string {
  const lines = candidates.filter(({ text }) => isPlainWord(text)).map(lineOf)
  return [...lines, `:${directive}`, ''].join('\n')
}

function lineOf({ text, about }: CompletionCandidate): string {
  return about === undefined || isUnsafe(about) ? text : `${text}\t${about}`
}

/** Letters and digits of any script, and the punctuation to which no shell gives a meaning within a word. */
function isPlainWord(text: string): boolean {
  return /^[\p{L}\p{N}._:@/+,=%-]+$/u.test(text)
}
