// SCM's render cache, as docs/spire-facts.md §11.11 has it, over templates of every shape: whether it is on, off or not known. What
// holds a constant and what uses a definition is known by how each template is made, and not by reading it.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastSeen, runs } from '@kleym/testing/runs.ts'
import { csid, predicted, verdictsOf, type Fields } from './estate.ts'

const RUNS = runs(400)

/** A part of a template that gives a plain text, and what the cache sees of it. */
interface Part {
  readonly source: string
  /** A number or a character constant outside of definitions. */
  readonly hasConstant: boolean
  /** Definitions of its own, or calls of one. */
  readonly usesDefinition: boolean
  readonly isText: boolean
}

function part(source: string, seen: Partial<Part> = {}): Part {
  return { source, hasConstant: false, usesDefinition: false, isText: false, ...seen }
}

const LEAVES: readonly Part[] = [
  part('x', { isText: true }),
  part('{{/* 1 */}}y', { isText: true }),
  part('{{ .PodMeta.Namespace }}'),
  part('{{ print "1" }}'),
  part('{{ and true .PodMeta.Namespace }}'),
  part('{{ slice .PodMeta.Namespace 0 }}', { hasConstant: true }),
  part('{{ slice .PodMeta.Namespace 0x0 }}', { hasConstant: true }),
  part(`{{ printf "%c" 'x' }}`, { hasConstant: true }),
]

/** A name for each definition of one template: Go refuses a second one of the same name. */
let names = 0

const parts = fc.letrec<{ part: Part }>((tie) => ({
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc.tuple(tie('part'), tie('part')).map(([one, other]) => ({
      ...part(
        `{{ if .PodMeta.Namespace }}${one.source}{{ else }}${other.source}{{ end }}`,
        either(one, other),
      ),
      isText: false,
    })),
    tie('part').map((one) => ({
      ...one,
      source: `{{ with . }}${one.source}{{ end }}`,
      isText: false,
    })),
    // What stands in the body of a block or of a definition is no part of what SCM compares; its argument is.
    tie('part').map((body) =>
      part(`{{ block "b${names++}" . }}${body.source}{{ end }}`, { usesDefinition: true }),
    ),
    tie('part').map((body) => {
      const name = `t${names++}`
      return part(`{{ define "${name}" }}${body.source}{{ end }}{{ template "${name}" . }}`, {
        usesDefinition: true,
      })
    }),
    tie('part').map((body) =>
      part(`{{ define "u${names++}" }}${body.source}{{ end }}z`, { usesDefinition: true, isText: true }),
    ),
  ),
})).part

function either(one: Part, other: Part): Partial<Part> {
  return {
    hasConstant: one.hasConstant || other.hasConstant,
    usesDefinition: one.usesDefinition || other.usesDefinition,
  }
}

/** Definitions stand at the top of a template, so those within another part are none. */
const isParsed = ({ source }: Part): boolean => !/\{\{ (?:if|with|block|define)[^]*\{\{ define/.test(source)

const FIELDS: readonly ((text: string) => Fields)[] = [
  (text) => ({ spiffeIDTemplate: `spiffe://td/${text}` }),
  (text) => ({ workloadSelectorTemplates: [`k8s:ns:${text}`] }),
  (text) => ({ dnsNameTemplates: [text] }),
]

function fateOf(spec: Fields, config: Fields): readonly string[] {
  const fallback = csid('z', { fallback: true, spiffeIDTemplate: 'spiffe://td/default' })
  return verdictsOf(predicted({ ids: [csid('a', spec), fallback], config }))
}

const SERVED = ['a: declared', 'z: displaced'] as const
const DROPPED = ['a: failed', 'z: declared'] as const
const OPEN = ['a: depends', 'z: depends'] as const

/** What the cache makes of a part. Where all of the main part is text, nothing is rendered that could be mixed up. */
function expectedOf({ hasConstant, usesDefinition, isText }: Part): readonly string[] {
  if (hasConstant) return DROPPED
  return usesDefinition && !isText ? OPEN : SERVED
}

test('off it changes nothing, on it drops constants and leaves definitions open', () => {
  const seen: (readonly string[])[] = []
  fc.assert(
    fc.property(parts.filter(isParsed), fc.constantFrom(...FIELDS), (one, field) => {
      const spec = field(one.source)
      expect(fateOf(spec, {})).toEqual(SERVED)
      expect(fateOf(spec, { enableEntryRenderCache: false })).toEqual(SERVED)
      const expected = expectedOf(one)
      expect(fateOf(spec, { enableEntryRenderCache: true })).toEqual(expected)
      seen.push(expected)
    }),
    { numRuns: RUNS },
  )
  const counts = [SERVED, DROPPED, OPEN].map((fate) => seen.filter((one) => one === fate).length)
  expect(Math.min(...counts)).toBeGreaterThan(leastSeen(20))
})
