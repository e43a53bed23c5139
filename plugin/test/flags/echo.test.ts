// A suggested command asks the same files and the same cluster.
import { expect, test } from 'vitest'
import { echoOf } from '../../src/flags/echo.ts'

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['nothing', {}, ''],
  ['files', { offline: true, recursive: true, filename: ['a b', 'pr/'] }, " -f 'a b' -f pr/ -R --offline"],
  ['a cluster', { context: 'prod', namespace: 'team-a' }, ' --context prod'],
  ['no token, which belongs on no screen', { token: 'secret', server: 'https://x' }, ' --server https://x'],
  ['settings', { 'trust-domain': 'example.org' }, ' --trust-domain example.org'],
  ['what would be another command in a shell', { context: "a'; rm -rf ~" }, ` --context 'a'\\''; rm -rf ~'`],
])('%s', (_, flags, text) => {
  expect(echoOf(flags)).toBe(text)
})
