// What an answer loads before it begins: a library that it does not use costs each start some milliseconds, and one import somewhere
// below brings it in.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundle } from '../../scripts/build/bundle.ts'
import { ROOT } from './files.ts'

type Outputs = Awaited<ReturnType<typeof bundle>>['outputs']

let outputs: Outputs = {}
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kleym-loaded-'))
  const outfile = join(folder, 'kubectl-kleym.mjs')
  const metafile = await bundle(ROOT, { entry: join(ROOT, 'plugin/src/main.ts'), outfile, split: true })
  outputs = metafile.outputs
  await rm(folder, { recursive: true })
})

/** The modules that are loaded with the one that begins with a source file: not those that it imports when it runs. */
function loadedWith(entry: string): readonly string[] {
  const [first] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry) ?? []
  if (first === undefined) throw new Error(`no module begins with ${entry}`)
  const found = new Set([first])
  for (const path of found)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && outputs[imported] !== undefined) found.add(imported)
  return [...found].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}))
}

function ofZod(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => path.includes('node_modules/zod/'))
}

test.each(['explain', 'conflicts', 'who-selects'])('%s is made without zod', (answer) => {
  const loaded = loadedWith(`plugin/src/answers/${answer}/run.ts`)
  expect(loaded).toContain('plugin/src/gather/gather.ts')
  expect(ofZod(loaded)).toEqual([])
})

test('a report is made with it', () => {
  expect(ofZod(loadedWith('plugin/src/answers/explain/schema.ts'))).not.toEqual([])
})
