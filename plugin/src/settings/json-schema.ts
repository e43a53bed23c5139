// The JSON Schema of `.kleym.yaml`, for editors. It loads the whole of zod, which the program does without.
import type { JsonRecord } from '@kleym/shared/core/base/json.ts'
import * as z from 'zod'
import { settingsSchema } from './file-format.ts'

/** The schema, of the draft that editors read. */
export function settingsJsonSchema(): JsonRecord {
  const { $schema, ...rest } = z.toJSONSchema(settingsSchema(), { io: 'input', target: 'draft-7' })
  return { $schema, title: 'Settings of kubectl kleym', ...rest }
}
