// The result as the formats for CI systems print it: each finding with its place in a file, where there is one.
import { objectKey, type ObjectMark } from '@kleym/shared/core/findings/index.ts'
import type { FailOn } from '../flags/flags.ts'
import type { CiResult, FilePlace } from '../output/ci.ts'
import { STDIN } from '../sources/load.ts'
import { problemText } from '../sources/problem.ts'
import { unknownsOf, type AnswerResult } from './result.ts'

/** Makes the model of a judged frame. */
export function ciResultOf(judged: AnswerResult, failOn: FailOn, version: string): CiResult {
  const { frame, input, findings, suppressed, problems, exitCode } = judged
  const places = placesOf(input.marks)
  return {
    kind: frame.kind,
    version,
    threshold: failOn === 'never' ? undefined : failOn,
    findings,
    suppressed,
    placeOf: (subject) => frame.placeOf?.(subject) ?? places.get(objectKey(subject)),
    passed: frame.passed ?? [],
    differences: frame.differences ?? [],
    unknowns: [...problems.map(problemText), ...unknownsOf(judged)],
    assuming: judged.assuming,
    exitCode,
  }
}

function placesOf(marks: readonly ObjectMark[]): ReadonlyMap<string, FilePlace> {
  const places = new Map<string, FilePlace>()
  for (const mark of marks) {
    const { origin } = mark
    if (origin === undefined || !isFile(origin.file) || places.has(objectKey(mark))) continue
    places.set(objectKey(mark), { file: origin.file, line: origin.line })
  }
  return places
}

/** What came through stdin or out of kustomize has lines, but no file that an editor could open. */
function isFile(name: string): boolean {
  return name !== STDIN && !/ \((?:kustomize|helm)\)$/.test(name)
}
