// Formats in which a command has no answer.
import { describe, expect, test } from 'vitest'
import { inProcess } from '../support/in-process.ts'
import { ESTATE_FLAGS, PROJECT_ROOT } from '../support/estate.ts'

describe('a format without an answer', () => {
  test.each([
    ['diff', ['diff', ...ESTATE_FLAGS]],
    ['who-selects', ['who-selects', '-A', ...ESTATE_FLAGS]],
    ['policies', ['policies', '-A', ...ESTATE_FLAGS]],
  ])('%s refuses it before anything is read', async (command, args) => {
    const { code, stdout, stderr } = await inProcess([...args, '-f', 'gone', '-o', 'mermaid'], PROJECT_ROOT)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^error: ${command} draws no diagram \\(-o mermaid\\)\\n`))
    expect(stderr).toContain('fix:  ask one of them: kubectl kleym explain -o mermaid')
  })

  test.each(['sarif', 'junit', 'github', 'mermaid', 'markdown'])(
    'the page of a code is no -o %s',
    async (format) => {
      const { code, stdout, stderr } = await inProcess(['explain', 'KLM301', '-o', format], PROJECT_ROOT)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain('use one of text, wide, json, yaml, name')
    },
  )
})
