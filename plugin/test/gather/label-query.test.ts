// `-l` as kubectl takes it: which objects a selector means, and what is no selector.
import { YES } from '@kleym/shared/core/model/truth/truth.ts'
import { matchSelector } from '@kleym/shared/core/model/objects/label-match.ts'
import { describe, expect, test } from 'vitest'
import { KleymError } from '../../src/io/errors.ts'
import { parseLabelQuery } from '../../src/gather/label-query.ts'

const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  llama: { app: 'llama', tier: 'gold' },
  eu: { app: 'llama', region: 'eu' },
  qwen: { app: 'qwen', 'x.org/canary': '' },
  bare: {},
}

function meant(text: string): readonly string[] {
  const selector = parseLabelQuery(text)
  return Object.entries(LABELS)
    .filter(([, labels]) => matchSelector(selector, { labels: new Map(Object.entries(labels)) }) === YES)
    .map(([name]) => name)
}

describe('a selector means', () => {
  test.each<[string, readonly string[]]>([
    ['app=llama', ['llama', 'eu']],
    ['app==llama', ['llama', 'eu']],
    ['app!=llama', ['qwen', 'bare']],
    ['app', ['llama', 'eu', 'qwen']],
    ['!app', ['bare']],
    ['! app', ['bare']],
    ['app=llama,!region', ['llama']],
    ['app = llama , tier = gold', ['llama']],
    ['app in (llama, qwen)', ['llama', 'eu', 'qwen']],
    ['app in (qwen),x.org/canary', ['qwen']],
    ['app notin (llama)', ['qwen', 'bare']],
    ['x.org/canary=', ['qwen']],
    ['', ['llama', 'eu', 'qwen', 'bare']],
  ])('%s: %j', (text, names) => {
    expect(meant(text)).toEqual(names)
  })
})

describe('what is no selector is a usage error that says where it stops making sense', () => {
  test.each([
    'app in llama',
    'app in (llama',
    'app llama',
    'app=a=b',
    ',app',
    'app,,tier',
    '!',
    '=x',
    'app=-x',
    'a/b/c=x',
    'app=a b',
  ])('%s', (text) => {
    let thrown: unknown
    try {
      parseLabelQuery(text)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(KleymError)
    expect(thrown).toMatchObject({
      code: 'usage',
      where: `-l ${text}`,
      what: 'the label selector is not valid',
    })
  })
})
