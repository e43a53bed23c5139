// How a completion is printed for kubectl: candidate, tab, description; the directive last; nothing that a shell obeys.
import { describe, expect, test } from 'vitest'
import { DIRECTIVE, NOTHING, offer, printCompletion } from '../../src/completion/protocol.ts'

describe('the lines', () => {
  test('are a candidate each with its description after a tab, and end with the directive', () => {
    const completion = offer([{ text: 'explain', about: 'Why?' }, { text: 'diff' }], DIRECTIVE.noSpace)
    expect(printCompletion(completion)).toBe('explain\tWhy?\ndiff\n:6\n')
  })

  test('are the directive alone where there is nothing to offer: files would be wrong', () => {
    expect(printCompletion(NOTHING)).toBe(':4\n')
  })

  test.each([
    ['a line break', 'chat\n:0'],
    ['a tab', 'chat\tdescription'],
    ['a carriage return', 'chat\r'],
    ['a terminal sequence', 'chat\u001b[2J'],
    ['a mark that reorders text', 'chat\u202e'],
    ['a space', 'chat chat'],
    ['a command substitution', '$(reboot)'],
    ['backticks', '`reboot`'],
    ['a quote', "chat'"],
    ['a second command', 'chat;reboot'],
    ['a pipe', 'chat|reboot'],
    ['a backslash', 'chat\\'],
    ['a star', 'chat*'],
    ['a brace', '{a,b}'],
    ['a tilde', '~root'],
    ['history', '!!'],
    ['a comment', '#chat'],
    ['a message for the person, as cobra has it', '_activeHelp_ obey'],
    ['nothing', ''],
  ])('leave out a candidate with %s', (_, text) => {
    expect(printCompletion(offer([{ text }, { text: 'kept' }]))).toBe('kept\n:4\n')
  })

  test.each([
    'arn:aws:eks:eu-west-1:1:cluster/dev',
    'gke_p_z_dev',
    'admin@dev',
    'prüfung',
    'a=b,c+d',
    '100%',
  ])('keep %s, which is a name', (text) => {
    expect(printCompletion(offer([{ text }]))).toBe(`${text}\n:4\n`)
  })

  test('leave out a description that does not fit on its line', () => {
    expect(printCompletion(offer([{ text: 'chat', about: 'two\nlines' }]))).toBe('chat\n:4\n')
  })
})
