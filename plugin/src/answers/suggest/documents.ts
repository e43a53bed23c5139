// Bindings as YAML documents, ready to be applied, with the reasons as comments. The names in a comment are hostile: no line break
// of theirs ends it.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import {
  candidateManifest,
  manifestsBefore,
  type SuggestedBinding,
  type Suggestions,
  suggestedText,
} from '@kleym/shared/core/answers/index.ts'
import { escapeTerminal, neutraliseCommands } from '../../io/escape.ts'
import { toYaml } from '../../output/yaml.ts'
import { changeLines, notText } from './words.ts'

/** A document, and what is said above it. */
export interface CommentedDocument {
  readonly comments: readonly string[]
  readonly manifest: JsonRecord
}

/** All suggested objects, a document each. The first comments say what is not suggested. */
export async function bindingDocuments({ pools }: Suggestions): Promise<string> {
  const documents = pools.flatMap(({ suggested, registrations }) => [
    ...registrations.flatMap(({ candidate, why }) =>
      manifestsBefore(candidate).map((manifest) => ({ comments: why, manifest })),
    ),
    ...suggested.flatMap((one) => documentsOf(one, commentsOf(one))),
  ])
  const head = pools.flatMap(({ pool, not }) =>
    not.map((one) => `InferencePool ${pool.namespace}/${pool.name}: ${notText(one)}`),
  )
  return toDocuments(head, documents)
}

/** A suggested binding with what is said of it, after the registrations that are applied before it. */
export function documentsOf(
  { key, candidate }: SuggestedBinding,
  comments: readonly string[],
): readonly CommentedDocument[] {
  return [
    ...manifestsBefore(candidate).map((manifest) => ({
      comments: [`applied before ${key}: the proxy keeps the ID that its mesh needs`],
      manifest,
    })),
    { comments, manifest: candidateManifest(candidate) },
  ]
}

/** YAML documents with comments above each, and some above all of them. */
export async function toDocuments(
  head: readonly string[],
  documents: readonly CommentedDocument[],
): Promise<string> {
  const parts = [head.map(toComment).join('')]
  // What several bindings need is applied once, before the first of them.
  const first = new Map(documents.toReversed().map((one) => [identityOf(one), one]))
  for (const { comments, manifest } of documents.filter((one) => first.get(identityOf(one)) === one))
    parts.push(`---\n${comments.map(toComment).join('')}${await toYaml(manifest)}`)
  return parts.join('')
}

function identityOf({ manifest }: CommentedDocument): string {
  const { namespace, name } = readMeta(manifest)
  return JSON.stringify([manifest['kind'], namespace, name])
}

function commentsOf(suggested: SuggestedBinding): readonly string[] {
  const { candidate, spiffeId, why } = suggested
  return [
    `${suggestedText(suggested)} of InferencePool ${candidate.pool}: ${spiffeId}`,
    ...why,
    ...changeLines(suggested),
  ]
}

function toComment(text: string): string {
  return `${neutraliseCommands(`# ${escapeTerminal(text)}`)}\n`
}
