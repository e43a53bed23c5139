// The JSON Schema of an IdentityTest, for editors: what a mapping must hold in combination is checked when the test is run.
import { identityTestSchema } from '@kleym/shared/core/answers/index.ts'
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import * as z from 'zod'

/** The schema, of the draft that editors read. */
export function identityTestJsonSchema(): JsonRecord {
  const { $schema, ...rest } = z.toJSONSchema(identityTestSchema(), { io: 'input', target: 'draft-7' })
  return { $schema, title: 'IdentityTest', ...rest }
}
