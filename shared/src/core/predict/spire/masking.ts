// Who gets a registration entry that several objects ask for: SCM's order of preference, as far as the facts that decide it
// are known (docs/spire-facts.md §3, §11.1).
import { preferred, type Precedence } from './precedence.ts'
import { sourceText, type EntrySource } from './prediction.ts'

/** One of several objects that ask for the same entry. */
export interface MaskingCandidate {
  readonly source: EntrySource
  readonly precedence: Precedence
  /** Whether it certainly asks for the entry. */
  readonly certain: boolean
}

/** What becomes of one candidate for an entry. */
export type MaskingResult =
  | { readonly kind: 'wins' }
  | { readonly kind: 'masked'; readonly by: EntrySource; readonly why: string }
  | { readonly kind: 'uncertain'; readonly rival: EntrySource; readonly why: string }

/**
 * Which candidate gets the entry. A candidate that comes after a certain one is masked, even where the server refuses the
 * winner's entry. The result is uncertain where the order is not known, or whether a preferred candidate asks at all.
 */
export function resolveMasking(candidates: readonly MaskingCandidate[]): readonly MaskingResult[] {
  const best = bestOf(candidates)
  if (best === undefined) return candidates.map((candidate) => uncertainMasking(candidate, candidates))
  let uncertainBy: MaskingCandidate | undefined
  const results = candidates.map((candidate): MaskingResult => {
    if (candidate === best) return { kind: 'wins' }
    const order = preferred(best.precedence, candidate.precedence)
    if (order === 'left') {
      return {
        kind: 'masked',
        by: best.source,
        why: `${sourceText(best.source)} wants the same entry and comes first`,
      }
    }
    uncertainBy ??= candidate
    return uncertainBeside(best.source)
  })
  const rival = uncertainBy
  if (rival === undefined) return results
  return results.map((result) => (result.kind === 'wins' ? uncertainBeside(rival.source) : result))
}

/** The certain candidate that SCM prefers to all other certain ones; any of those whose order is not known. */
function bestOf(candidates: readonly MaskingCandidate[]): MaskingCandidate | undefined {
  let best: MaskingCandidate | undefined
  for (const candidate of candidates) {
    if (!candidate.certain) continue
    if (best === undefined || preferred(candidate.precedence, best.precedence) === 'left') best = candidate
  }
  return best
}

function uncertainMasking(
  candidate: MaskingCandidate,
  candidates: readonly MaskingCandidate[],
): MaskingResult {
  const rival = candidates.find((other) => other !== candidate)
  return rival === undefined ? { kind: 'wins' } : uncertainBeside(rival.source)
}

/** The result for an entry that may turn out to be the same as another object's. */
export function perhapsSameAs(rival: EntrySource): MaskingResult {
  const why = `${sourceText(rival)} may want the same entry: not all of it is known`
  return { kind: 'uncertain', rival, why }
}

function uncertainBeside(rival: EntrySource): MaskingResult {
  const why = `${sourceText(rival)} wants the same entry, and which of the two SCM takes is not known`
  return { kind: 'uncertain', rival, why }
}
