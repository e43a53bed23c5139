// `-o github`: workflow commands, and nothing that a name could turn into another one.
import { describe, expect, test } from 'vitest'
import type { FindingCode } from '@kleym/shared/core/findings/registry/findings.ts'
import { toGithub } from '../../src/output/github.ts'
import { HOSTILE_TEXTS, UNSAFE_CHARACTERS, resultWith, COMPLETE_RESULT } from '../support/ci-results.ts'

describe('-o github', () => {
  test.each(HOSTILE_TEXTS)('%j is data alone', (text) => {
    const output = toGithub(resultWith(text))
    expect(output).not.toMatch(UNSAFE_CHARACTERS)
    expect(output).not.toMatch(/##(?:\[|vso\[)/)
    const lines = output.split('\n').slice(0, -1)
    const commands = lines.filter((line) => /^\s*::/.test(line))
    // One for what is not known, two findings, one difference: no more, whatever the names hold.
    expect(commands).toHaveLength(4)
    for (const line of commands)
      expect(line).toMatch(/^::(?:error|warning|notice) (?:file=[^,:]*,line=7,)?title=[^,:]*::/)
    expect(lines.at(-1)).toBe(
      'kleym ConflictsReport: 2 errors, 0 warnings, 0 info; 1 difference; 2 suppressed; the answer is not complete; exit code 4',
    )
  })

  test('the runner gives the message back with its lines', () => {
    const [, line = ''] = toGithub(resultWith('50% a:b, c')).split('\n')
    const [, properties = '', message = ''] = /^::error (.*?)::(.*)$/.exec(line) ?? []
    const data = message.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
    expect(data.split('\n').slice(0, 3)).toEqual([
      'InferenceIdentityBinding/50% a:b, c/50% a:b, c:50% a:b, c: 50% a:b, c',
      '50% a:b, c',
      '50% a:b, c',
    ])
    expect(properties).toBe('file=50%25 a%3Ab%2C c,line=7,title=KLM301%3A identity collision')
  })

  test.each<[FindingCode, string]>([
    ['KLM301', 'error'],
    ['KLM402', 'warning'],
    ['KLM412', 'notice'],
  ])('%s is the command %s', (code, command) => {
    expect(toGithub(resultWith('x', { code }))).toMatch(
      new RegExp(`^::${command} file=x,line=7,title=${code}%3A `, 'm'),
    )
  })

  test('an answer with nothing to say is its last line', () => {
    expect(toGithub(COMPLETE_RESULT)).toBe(
      'kleym ConflictsReport: 0 errors, 0 warnings, 0 info; 0 suppressed; exit code 0\n',
    )
  })
})
