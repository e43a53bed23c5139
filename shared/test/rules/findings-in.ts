// What is found in objects, under settings of SCM by which it handles all that kleym writes.
import { findingsOf } from '@kleym/testing/at-once.ts'
import { CASE_SCM } from '@kleym/testing/finding-cases.ts'
import { CONFIG } from '@kleym/testing/manifests.ts'
import { analyse } from '../../src/core/analysis/states/analysis.ts'
import type { JsonRecord } from '../../src/core/base/json.ts'
import type { Finding } from '../../src/core/findings/finding/finding.ts'
import type { RawObject } from '../../src/core/model/objects/raw.ts'
import { readScmSettings } from '../../src/core/model/objects/scm-config.ts'
import { readSnapshot } from '../../src/core/snapshot/snapshot.ts'

/** The findings; `scm` is set beside that. */
export function findingsIn(objects: readonly RawObject[], scm: JsonRecord = {}): readonly Finding[] {
  const evidence = { trustDomain: 'example.org', className: '', clusterSpiffeIdClasses: [] }
  const { settings } = readScmSettings({ ...CASE_SCM, ...scm }, 'a test', evidence)
  return findingsOf(analyse(readSnapshot({ objects }), CONFIG, settings))
}

/** An object as a file has it. */
export function ofFile(value: JsonRecord): RawObject {
  return { value, origin: { file: 'team.yaml', document: 1, line: 1 } }
}
