// Help of every command: flags in one column, only formats that the command has, and folded to a narrow terminal.
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/answers/all-commands.ts'
import { formatsOf, requireFormat } from '../../src/flags/options.ts'
import { OUTPUT_FORMATS, type OutputFormat } from '../../src/flags/flags.ts'
import { inProcess } from '../support/in-process.ts'

const IDS = [...COMMANDS.keys()]

async function helpOf(command: string, columns: number): Promise<string> {
  const { code, stdout } = await inProcess([command, '--help'], process.cwd(), { COLUMNS: `${columns}` })
  expect(code).toBe(0)
  return stdout
}

/** The help of every command. */
async function helps(columns: number): Promise<readonly (readonly [id: string, text: string])[]> {
  return Promise.all(IDS.map(async (id) => [id, await helpOf(id, columns)] as const))
}

test('in a group of flags, the long names begin in one column, with room for a letter where one has a letter', async () => {
  const groups = (await helps(80)).flatMap(([, text]) =>
    text.split('\n\n').filter((part) => FLAGS.test(part)),
  )
  expect(groups.length).toBeGreaterThan(IDS.length)
  const columns = groups.map((group) => new Set([...group.matchAll(LONG_NAME)].map(([head]) => head.length)))
  expect(groups.filter((_, at) => (columns[at]?.size ?? 0) > 1)).toEqual([])
})

test('no line is wider than a narrow terminal, but for a word or an example that is', async () => {
  const lines = (await helps(50)).flatMap(([, text]) => text.split('\n').slice(1))
  expect(
    lines.filter((line) => line.length > 50 && !isUnbroken(line) && !line.includes('kubectl kleym')),
  ).toEqual([])
})

/** One word, or the name of a flag with its value. */
function isUnbroken(line: string): boolean {
  return /^ *(-\w, )?\S*$/.test(line)
}

test.each(IDS)('%s: -o lists the formats that the command answers in, and no other', async (id) => {
  const [, formats] = /The form of the (?:answer|lines)[:;] ([^.]*)\./.exec(
    (await helpOf(id, 80)).replaceAll(/\s+/g, ' '),
  ) ?? [undefined, '']
  const listed = OUTPUT_FORMATS.filter((format) => formats.split(', ').includes(format))
  const isOwnFlag = OWN_FORMATS.has(id)
  expect(listed).toEqual(isOwnFlag ? [] : formatsOf(id))
  const refused = OUTPUT_FORMATS.filter((format) => isRefused(format, id))
  expect(isOwnFlag ? [] : refused).toEqual(
    isOwnFlag ? [] : OUTPUT_FORMATS.filter((format) => !listed.includes(format)),
  )
})

/** Commands whose `-o` is another: lines as they come, and none at all. */
const OWN_FORMATS: ReadonlySet<string> = new Set(['watch', 'completion'])

const FLAGS = /^[A-Z]* ?FLAGS\n/
/** A flag in the list of a group, up to its long name. */
const LONG_NAME = /^ +(?:-\w, )?(?=--)/gm

function isRefused(format: OutputFormat, id: string): boolean {
  try {
    requireFormat(format, id)
    return false
  } catch {
    return true
  }
}
