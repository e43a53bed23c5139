// The one door, as the executable that ships keeps it: the rows of plugin/test/sources/door.test.ts.
import { beforeAll, expect, test } from 'vitest'
import {
  CLEAN,
  ESTATE,
  OPEN,
  ROWS_DISMISSED,
  ROWS_OPEN,
  SCM,
  SETTINGS,
} from '../../plugin/test/support/door-rows.ts'
import { workspace } from '../../plugin/test/support/workspace.ts'
import { built, kleym } from './plugin.ts'

beforeAll(built)

test.each([
  ...ROWS_OPEN.map((row) => [...row, 4, OPEN] as const),
  ...ROWS_DISMISSED.map((row) => [...row, 0, CLEAN] as const),
])('%s', async (_, files, code, first) => {
  const given = Object.fromEntries(Object.entries(files).map(([name, text]) => [`files/${name}`, text]))
  const cwd = await workspace({ 'files/estate.yaml': ESTATE, 'scm.conf': SCM, ...given })
  const run = await kleym(['conflicts', '--offline', '-R', '-f', 'files', ...SETTINGS], { cwd })
  expect({ code: run.code, first: run.stdout.slice(0, first.length) }).toEqual({ code, first })
})
