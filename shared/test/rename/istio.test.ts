// Each step of the plans of `cases.ts` by istiod's rules: every policy that let a container in still does, whichever of its IDs it
// presents. `test/svid/agent/rename.test.ts` does the same with a real SPIRE.
import { describe, expect, test } from 'vitest'
import { NODE, pod } from '@kleym/testing/access-policies.ts'
import { analysisOf } from '@kleym/testing/random-tenants.ts'
import { Holdings, idsOf } from '../../src/core/analysis/holdings/holdings.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import { renaming, type Rename } from '../../src/core/answers/rename/rename.ts'
import { driveAtOnce } from '../../src/core/base/steps.ts'
import { toolsFor } from '../suggest/suggestions-for.ts'
import { HOLDING, RENAME_CASES, type RenameCase } from './cases.ts'
import { letsIn } from './istiod.ts'
import { deedsOf, withDeed } from './walk.ts'

function worldOf({ objects, consumers, question: { namespace }, labels }: RenameCase): readonly JsonRecord[] {
  const own = pod({ name: 'llama-0', namespace, labels })
  return [NODE, ...objects, own, ...consumers]
}

function planOf(one: RenameCase): Rename {
  const analysis = analysisOf(worldOf(one))
  return driveAtOnce(renaming(analysis, one.question, toolsFor(analysis)))
}

/** The IDs of the container, and the policies, after each deed; the first before any. */
function walked(one: RenameCase): readonly { ids: readonly string[]; policies: readonly JsonRecord[] }[] {
  const before = worldOf(one)
  let world = before
  const worlds = [before, ...deedsOf(before, planOf(one)).map((deed) => (world = withDeed(world, deed)))]
  return worlds.map((objects) => {
    const { settled, podsInQuestion } = analysisOf(objects)
    const holdings = new Holdings(settled)
    const ids = podsInQuestion.flatMap((each) =>
      holdings.of(each).flatMap(({ container, held }) => (container.name === HOLDING ? idsOf(held) : [])),
    )
    return {
      ids: [...new Set(ids)],
      policies: objects.filter(({ kind }) => kind === 'AuthorizationPolicy'),
    }
  })
}

describe.each(RENAME_CASES)('$question.kind in $question.namespace', (one) => {
  test('the plan says that nobody is cut off, and is right at each step', () => {
    expect(planOf(one).cutOffs).toEqual([])
    const all = walked(one)
    expect(all[0]?.ids).toEqual([one.oldId])
    expect(all.at(-1)?.ids).toEqual([one.newId])
    for (const { ids, policies } of all) {
      expect(ids).not.toEqual([])
      expect(policies.filter((policy) => !ids.every((id) => letsIn(policy, id)))).toEqual([])
    }
  })
})
