// How `rename` looks: whether a container is cut off in between, what happens to each binding, and the steps.
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import {
  holdersOf,
  type RenameStep,
  type Rename,
  type RenamedBinding,
} from '@kleym/shared/core/answers/index.ts'
import { counted } from '@kleym/shared/core/base/text/counted.ts'
import type { Answer } from '../../text/answer.ts'
import { viewFindingGroups } from '../../text/finding-groups.ts'
import type { Layout } from '../../text/layout.ts'
import { apart, line, MARKS, span, type Block } from '../../text/line.ts'
import { wrap } from '../../text/wrap.ts'
import { cutOffLines } from '../parts/cut-offs.ts'

const KIND_WORDS = { binding: 'binding', pool: 'InferencePool', objective: 'InferenceObjective' } as const

/** The first lines. */
export function renameAnswer(rename: Rename, steps: number): Answer {
  const { question, renamed, cutOffs, changes } = rename
  const { kind, namespace, from, to } = question
  const what = `${KIND_WORDS[kind]} ${namespace}/${from} to ${to}`
  if (renamed.length === 0)
    return { mark: 'note', text: [span(`${what}: no binding names it, so no ID changes`, 'bold')] }
  const verdict = verdictOf(rename)
  const says = {
    nobody: 'no container is cut off by a consumer that was read',
    somebody: 'a container is cut off',
    'not known': 'it is not known whether a container is cut off',
  }[verdict]
  const lost = renamed.filter(({ oldId, newId }) => oldId !== undefined && newId === undefined).length
  const ids =
    changes.length === 0
      ? lost === 0
        ? 'no ID changes'
        : `${counted(lost, 'binding')} would give no ID`
      : `${counted(changes.length, 'ID')} of ${counted(holdersOf(rename), 'container')}`
  return {
    mark: verdict === 'nobody' ? 'ok' : 'warn',
    text: [span(`${what}: ${says}`, 'bold')],
    reasons: [[`${ids}, ${counted(steps, 'step')}`], ...cutOffLines(cutOffs)],
  }
}

/** The bindings, the steps, and what is new to know about. */
export function viewRename(
  { renamed }: Rename,
  steps: readonly RenameStep[],
  shown: readonly Finding[],
  layout: Layout,
): Block {
  return apart([
    renamed.flatMap((one) => viewBinding(one, layout)),
    ...steps.map((step, at) => viewStep(step, at, layout)),
    [...viewFindingGroups(shown, layout)],
  ])
}

function viewBinding({ binding, next, oldId, newId, why, how }: RenamedBinding, { width }: Layout): Block {
  const name = binding.key === next ? binding.key : `${binding.key} → ${next}`
  const ids =
    oldId === undefined
      ? `gives no ID now: ${why ?? ''}`
      : newId === undefined
        ? `${oldId} → none: ${why ?? ''}`
        : oldId === newId
          ? `${oldId}, as before`
          : `${oldId} → ${newId}`
  return wrap(
    line(how === 'nothing' ? MARKS.warn : MARKS.note, ' ', span(name, 'bold'), `  ${ids}`),
    width,
    4,
  )
}

function viewStep(
  { title, lines, check, shows, without }: RenameStep,
  at: number,
  { width, echo = '' }: Layout,
): Block {
  const row = (text: string): Block => wrap(line(`   ${text}`), width, 5)
  const asked = check.startsWith('kubectl kleym rename ')
    ? check
    : check.replace(/^kubectl kleym .*/, `$&${echo}`)
  return [
    ...wrap(line(`${at + 1}. `, span(title, 'bold')), width, 3),
    ...lines.flatMap(row),
    ...row(`check: ${asked}: ${shows}`),
    ...row(`breaks if skipped: ${without}`),
  ]
}

/** Whether a container is cut off in between. */
export function verdictOf({ cutOffs }: Pick<Rename, 'cutOffs'>): 'nobody' | 'not known' | 'somebody' {
  return cutOffs.some(({ isOpen }) => !isOpen) ? 'somebody' : cutOffs.length > 0 ? 'not known' : 'nobody'
}
