// Suggestions for the manifests of a test, by the same core that the plugin runs.
import { analysing, type Analysis } from '../../src/core/analysis/states/analysis.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import type { ProofTools } from '../../src/core/answers/suggest/prove.ts'
import { manifestsFor } from '../../src/core/answers/suggest/candidate.ts'
import { suggesting, type Suggestions, type SuggestQuestion } from '../../src/core/answers/suggest/suggest.ts'
import { analysisOf, type TenantReading } from '@kleym/testing/random-tenants.ts'

/** Every pool, and nothing else. */
export const EVERYTHING: SuggestQuestion = { isPool: () => true, isObjective: undefined, isPod: undefined }

/** How suggestions for an analysis are worked out. */
export function toolsFor({ config, settings }: Analysis): ProofTools {
  return { analyse: (snapshot) => analysing(snapshot, config, settings), drive: driveAtOnce }
}

/** What is suggested for an analysis. */
export function suggestionsOf(analysis: Analysis, question: Partial<SuggestQuestion> = {}): Suggestions {
  return driveAtOnce(suggesting(analysis, { ...EVERYTHING, ...question }, toolsFor(analysis)))
}

/** The analysis of these objects, and what is suggested for it. */
export function suggestionsFor(
  objects: readonly JsonRecord[],
  question: Partial<SuggestQuestion> = {},
  reading: TenantReading = {},
): { readonly analysis: Analysis; readonly answer: Suggestions } {
  const analysis = analysisOf(objects, reading)
  return { analysis, answer: suggestionsOf(analysis, question) }
}

/** The manifests of all suggested bindings and registrations, with what is applied before each. */
export function manifestsOf({ pools }: Suggestions): readonly JsonRecord[] {
  return manifestsFor(
    pools.flatMap(({ suggested, registrations }) =>
      [...registrations, ...suggested].map(({ candidate }) => candidate),
    ),
  )
}

/** A suggestion in one line: `team-a/llama PoolOnly runner`. */
export function suggestedLines({ pools }: Suggestions): readonly string[] {
  return pools.flatMap(({ suggested }) =>
    suggested.map(({ key, candidate: { boundary, serviceAccountName } }) =>
      [key, ...Object.values(boundary), serviceAccountName].join(' '),
    ),
  )
}
