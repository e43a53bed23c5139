// `test --update`: what failing assertions would have to say to be true, as a patch to review (`| git apply`). Only what pins a
// state is changed: a rule that forbids something is for a person to change.
import { present } from '@kleym/shared/core/base/present.ts'
import {
  findingHolders,
  selectorsOf,
  type HoldersFound,
  type ContainerAssertion,
  type EveryAssertion,
  type FieldPath,
  SelectablePods,
} from '@kleym/shared/core/answers/index.ts'
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import { compareBytes, distinct } from '@kleym/shared/core/base/text/bytes.ts'
import { verdictOf } from '@kleym/shared/core/decide/index.ts'
import { createTwoFilesPatch } from 'diff'
import type { CommandResult } from '../../io/context.ts'
import { EXIT, formatError } from '../../io/errors.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { problemError } from '../../sources/problem.ts'
import { STDIN } from '../../sources/load.ts'
import type { LoadedTests } from '../parts/load-tests.ts'
import { assertionName, type AssertionResult } from '../parts/assertions.ts'
import { incompleteText } from '../parts/assertion-results.ts'
import { editText, type FieldEdit } from './edit-yaml.ts'

/** The patch of all files; 1 where there is one, 4 where something is not known. */
export function updated(
  { texts, problems }: LoadedTests,
  results: readonly AssertionResult[],
  input: AnswerInput,
): CommandResult {
  const found = input.drive(findingHolders(input.after))
  const pods = new SelectablePods(input.after)
  const notes: string[] = [...input.notes]
  const edits = new Map<string, FieldEdit[]>()
  const wrong = results.filter(({ outcome }) => outcome.state !== 'passed')
  for (const one of wrong) {
    const own = one.outcome.state === 'failed' ? editsOf(one, { found, pods, input }) : []
    const { file, line } = one.place()
    if (own.length === 0 || file === STDIN) {
      const why =
        one.outcome.state === 'unknown' ? `it is not known (${one.outcome.why})` : 'change it by hand'
      notes.push(`not updated: ${file}:${line}, ${assertionName(one)}: ${why}`)
      continue
    }
    edits.set(file, [...(edits.get(file) ?? []), ...own.map((edit) => ({ ...edit, line }))])
  }
  const patches = texts.flatMap(({ name, text }) => {
    const after = editText(text, edits.get(name) ?? [])
    return after === text ? [] : [patchOf(name, text, after)]
  })
  const all = [...input.problems, ...problems]
  const isOpen =
    all.length > 0 ||
    incompleteText(input) !== undefined ||
    wrong.some(({ outcome }) => outcome.state === 'unknown')
  return {
    answer: patches.join(''),
    notes,
    errors: all.map((problem) => formatError(problemError(problem))),
    exitCode: isOpen ? EXIT.incomplete : wrong.length > 0 ? EXIT.findings : EXIT.ok,
  }
}

/** Without the line of equals signs, which `git apply` does not know. */
function patchOf(name: string, before: string, after: string): string {
  const patch = createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, {
    context: 3,
  })
  return patch
    .split('\n')
    .filter((row) => !row.startsWith('====='))
    .map((row) => row.replace(/^(--- .*|\+\+\+ .*)\t$/, '$1'))
    .join('\n')
}

interface Facts {
  readonly found: HoldersFound
  readonly pods: SelectablePods
  readonly input: AnswerInput
}

/** What has to be written in place of what stands there; nothing where no single value would be true. */
function editsOf({ assertion }: AssertionResult, facts: Facts): readonly Omit<FieldEdit, 'line'>[] {
  const { path } = assertion
  switch (assertion.kind) {
    case 'containers': {
      const held = heldBySubject(assertion, facts)
      if (held === undefined) return []
      const value = held.length === 0 ? { none: true } : { [assertion.mode]: held }
      return [{ path: [...path, 'holds'], value }]
    }
    case 'identities': {
      const { exact } = assertion.ids
      const holders = facts.found.holders.get(exact ?? assertion.ids.text) ?? []
      const exactly = selectorsOf(assertion.ids.text, holders, facts.found.namespaces)
      return [{ path: [...path, 'heldBy'], value: exactly.length === 0 ? { none: true } : { exactly } }]
    }
    case 'bindings':
      return bindingEdits(assertion, path, facts)
    case 'every': {
      const only = onlyOf(assertion, facts)
      return only === undefined ? [] : [{ path: [...path, 'holds', 'only'], value: only }]
    }
    case 'places':
      return []
  }
}

/** What all containers of a subject hold, where they agree. */
function heldBySubject(
  { subject }: ContainerAssertion,
  { found, pods }: Facts,
): readonly string[] | undefined {
  const sets = pods
    .candidates(subject)
    .filter((pod) => pods.match(pod, subject) === YES)
    .flatMap(
      (pod) =>
        found.namespaces
          .get(pod.namespace)
          ?.of(pod)
          .filter(({ isAdded }) => !isAdded) ?? [],
    )
    .filter(
      ({ container }) => subject.written.container === undefined || subject.written.container === container,
    )
    .map(({ ids }) => [...ids].toSorted(compareBytes))
  const [first] = sets
  return first !== undefined && sets.every((ids) => ids.join('\n') === first.join('\n')) ? first : undefined
}

/** The list of a rule that pins what a namespace holds, with what it holds now. */
function onlyOf(
  { only, containers, atMost }: EveryAssertion,
  { found }: Facts,
): readonly string[] | undefined {
  const { namespace, ...rest } = containers.written
  if (only === undefined || atMost !== undefined || namespace === undefined || Object.keys(rest).length > 0)
    return undefined
  if (only.some(({ exact, text }) => exact === undefined && text.includes('**'))) return undefined
  const ids = found.namespaces.get(namespace)?.all.flatMap((one) => [...one.ids]) ?? []
  return ids.length === 0 ? undefined : distinct(ids)
}

function bindingEdits(
  assertion: Extract<AssertionResult['assertion'], { readonly kind: 'bindings' }>,
  path: FieldPath,
  { input }: Facts,
): readonly Omit<FieldEdit, 'line'>[] {
  const judgement = input.after.settled.judgements.get(assertion.name)
  if (judgement === undefined || assertion.absent) return []
  const isReady = judgement.state === 'ready'
  const reason = verdictOf(judgement).reason
  return present(
    assertion.ready !== undefined && { path: [...path, 'ready'], value: isReady },
    assertion.reason !== undefined && { path: [...path, 'reason'], value: reason },
    assertion.spiffeId !== undefined &&
      isReady && { path: [...path, 'spiffeID'], value: judgement.resolved.identity.spiffeId },
  )
}
