// Results for the formats of CI systems, with names that mean harm: nothing that a cluster or a file holds may become
// syntax of the format, a command of a CI system, or an invisible character.
import { finding } from '@kleym/shared/core/findings/finding/finding.ts'
import { type Subject } from '@kleym/shared/core/model/objects/subject.ts'
import type { FindingCode } from '@kleym/shared/core/findings/registry/findings.ts'
import type { CiResult } from '../../src/output/ci.ts'

/** Names that mean harm to one format or another. */
export const HOSTILE_TEXTS = [
  'plain',
  '::error file=a,line=1::boo',
  'a\n::error::boo\r\n::stop-commands::x',
  '%0A::error::boo%25',
  'a,line=9,title=x::y',
  '##[error]boo ##vso[task.complete]x',
  ']]></failure></testcase></testsuite>',
  '<failure message="x" a=\'b\'>&amp; &lt; &#10; &nope;',
  '"]:::bad; n0 --> evil["x"]; click n0 "javascript:alert(1)"',
  '`graph` %%{init: {"theme":"x"}}%% end subgraph <br/><img src=x onerror=y>',
  '[click](http://evil.example) {0} \\[x\\]',
  '\u001b[31mred\u009b2J\u0000\u0007',
  'a\u202eb\u2066c\u200b\ufeff\u2028',
  '\ud800 lone \udfff\uffff',
  '../../etc/passwd?x#y z\\w',
] as const

/** Characters that no output may hold, a line break aside. */
export const UNSAFE_CHARACTERS =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\uffff]|\p{Surrogate}/u

/** What a test says about the finding. */
export interface CiResultParts {
  readonly code?: FindingCode
  readonly subject?: Partial<Subject>
}

/** A result that holds a text wherever a name or a sentence may stand. */
export function resultWith(text: string, { code = 'KLM301', subject }: CiResultParts = {}): CiResult {
  const about = { kind: 'InferenceIdentityBinding', namespace: text, name: text, container: text, ...subject }
  const one = finding(code, {
    subject: about,
    related: [{ kind: 'ClusterSPIFFEID', namespace: '', name: text }],
    summary: text,
    evidence: [text, text],
    fix: text,
  })
  return {
    kind: 'ConflictsReport',
    version: '1.2.3',
    threshold: 'error',
    assuming: undefined,
    findings: [one, one],
    suppressed: [
      { finding: one, suppression: { by: 'annotation', text, reason: text } },
      { finding: one, suppression: { by: 'flag', text, reason: undefined } },
    ],
    differences: [text],
    unknowns: [text],
    passed: [{ subject: about, text }],
    placeOf: ({ kind }) => (kind === 'ClusterSPIFFEID' ? undefined : { file: text, line: 7 }),
    exitCode: 4,
  }
}

/** A complete answer without findings. */
export const COMPLETE_RESULT: CiResult = {
  ...resultWith('x'),
  findings: [],
  suppressed: [],
  differences: [],
  unknowns: [],
  passed: [],
  exitCode: 0,
}
