// Findings of one code are one block: what all of them say stands once.
import { describe, expect, test } from 'vitest'
import { finding, type Finding } from '@kleym/shared/core/findings/finding/finding.ts'
import { PLAIN } from '../../src/io/palette.ts'
import { viewFindingGroups } from '../../src/text/finding-groups.ts'
import { render } from '../../src/text/line.ts'

const LAYOUT = { width: 80, wide: false }
const DEFAULT = { kind: 'ClusterSPIFFEID', namespace: '', name: 'default' }

function displaced(name: string, summary = 'vllm of 1 pod is left without an identity'): Finding {
  return finding('KLM402', {
    subject: { kind: 'InferenceIdentityBinding', namespace: 'lab', name },
    related: [DEFAULT],
    summary,
    evidence: ['ClusterSPIFFEID/default is a fallback', `seen in pod lab/${name}`],
  })
}

/** Without what is special about one pod. */
function same(name: string): Finding {
  return { ...displaced(name), evidence: [] }
}

const text = (findings: readonly Finding[], wide = false): string =>
  render(viewFindingGroups(findings, { ...LAYOUT, wide }), PLAIN)

describe('findings of one code', () => {
  test('share title, evidence, related object and fix', () => {
    expect(text([displaced('canary'), displaced('drift')])).toBe(
      `! default identity displaced: 2                                           KLM402
  ClusterSPIFFEID/default is a fallback
    lab/canary  vllm of 1 pod is left without an identity
                seen in pod lab/canary
    lab/drift   vllm of 1 pod is left without an identity
                seen in pod lab/drift
  fix: Bind the other containers too, or give them an identity by a
       ClusterSPIFFEID that is no fallback. PoolOnly gives them one, but not the
       default one (KLM418).
`,
    )
  })

  test('name all objects of which the very same is said in one row', () => {
    const shown = text([same('a'), same('b'), same('c')])
    expect(shown).toMatch(/^ {4}lab\/a, lab\/b, lab\/c {2}vllm of/m)
    expect(shown.match(/vllm of 1 pod/g)).toHaveLength(1)
    // What all have in common and no text names is named once.
    expect(shown).toContain('  each with ClusterSPIFFEID/default\n')
  })

  test('stand alone where there is one, and each in full with -o wide', () => {
    expect(text([displaced('a')])).toMatch(
      /^! lab\/a, ClusterSPIFFEID\/default: default identity displaced +KLM402\n/,
    )
    expect(text([displaced('a'), displaced('b')], true).match(/fix: /g)).toHaveLength(2)
  })

  test('are all listed if they ask for something, and the first twenty if they are information', () => {
    const names = Array.from({ length: 25 }, (_, at) => `pool-${String(at).padStart(2, '0')}`)
    const asks = names.map((name) => displaced(name, `${name} is left without an identity`))
    const tells = asks.map((one): Finding => ({ ...one, severity: 'info' }))
    expect(text(asks).match(/is left without/g)).toHaveLength(25)
    const shown = text(tells)
    expect(shown).toContain('default identity displaced: 25')
    expect(shown.match(/is left without/g)).toHaveLength(20)
    expect(shown).toMatch(/lab\/pool-19 .*\n {4}5 more; -o json tells each\n {2}fix: /)
    expect(text(tells, true).match(/is left without/g)).toHaveLength(25)
  })

  test('keep fixes apart that differ', () => {
    const other = { ...displaced('b'), fix: 'Do something else.' }
    const shown = text([displaced('a'), other])
    expect(shown).toContain('fix: Do something else.')
    expect(shown.match(/fix: /g)).toHaveLength(2)
  })
})
