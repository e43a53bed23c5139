// Whatever a test has printed: SARIF and JUnit among it must be valid, whichever command it is of.
import { junitProblems } from './junit-schema.ts'
import { sarifProblems } from './sarif-schema.ts'

/** Throws where a text is SARIF or JUnit and breaks its schema; any other text is left alone. */
export function requireValidCiFormat(text: string): void {
  const problems = text.startsWith('{\n  "$schema": "https://docs.oasis-open.org/sarif/')
    ? sarifProblems(text)
    : text.startsWith('<?xml')
      ? junitProblems(text)
      : []
  if (problems.length > 0) throw new Error(`not as its schema says:\n${problems.join('\n')}`)
}
