// The Dockerfile says what the test of the assembled root file system runs: the same user, the same program, and a last stage
// with nothing in it but what was assembled.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OPERATOR, USER } from '../../scripts/image/root-fs.ts'
import { ROOT } from '../e2e/plugin.ts'

const LINES = readFileSync(join(ROOT, 'scripts/image/Dockerfile'), 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

test('every base is pinned by its digest, or is nothing at all', () => {
  const bases = LINES.filter((line) => line.startsWith('FROM '))
  expect(bases).toHaveLength(2)
  expect(
    bases.filter((line) => !/^FROM (?:scratch$|\S+:\S+@sha256:[0-9a-f]{64} AS \w+$)/.test(line)),
  ).toEqual([])
})

test('the last stage is the assembled root file system, run as its user without a shell', () => {
  const last = LINES.slice(LINES.findLastIndex((line) => line.startsWith('FROM ')))
  expect(last).toEqual([
    'FROM scratch',
    'COPY --from=build --chown=0:0 /root-fs/ /',
    `USER ${USER}:${USER}`,
    `ENTRYPOINT ["/${OPERATOR}"]`,
  ])
})
