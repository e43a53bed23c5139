// The rule of docs/assumptions.md for objects that the files show to be missing: with every setting given, a Namespace or a Node
// that is added never turns exit code 0 into 1, nor something that was said without a "depends" into its opposite.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { contradictions } from './contradictions.ts'
import { namespaceWith, NODE } from './manifests.ts'
import { withObjects, worldsWithoutNode } from './worlds.ts'

const WORLDS = Number(env['KLEYM_WORLDS'] ?? 12)
/** More than the runs of one world take on a slow machine. */
const WORLD_MS = 10_000

const COMMANDS = [
  ['explain', '-A'],
  ['conflicts'],
  ['who-selects', '-A'],
  ['who-selects', '-A', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat'],
  ['policies', '-A'],
  ['diff', '--base', 'base.json'],
] as const
const SCM = JSON.stringify({
  apiVersion: 'spire.spiffe.io/v1alpha1',
  kind: 'ControllerManagerConfig',
  trustDomain: 'example.org',
  clusterName: 'prod',
  className: 'spire-mgmt-spire',
  watchClassless: true,
  ignoreNamespaces: [],
})
const SETTINGS =
  '--trust-domain example.org --clusterspiffeid-class-name spire-mgmt-spire --scm-config scm.json --variant-label-key role'.split(
    ' ',
  )

/** The objects that a world leaves out, with any labels. */
const missing = fc
  .record({
    a: fc.constantFrom('prod', 'dev'),
    b: fc.constantFrom('prod', 'dev'),
    system: fc.constantFrom('prod', 'dev'),
  })
  .map((labels) => [
    NODE,
    namespaceWith('team-a', labels.a),
    namespaceWith('team-b', labels.b),
    namespaceWith('kube-system', labels.system),
  ])

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kleym-objects-'))
  await writeFile(join(folder, 'scm.json'), SCM)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

let tried = 0

test(
  'adding any Namespace or Node that was left out never takes back what was said',
  { timeout: WORLDS * WORLD_MS },
  async ({ annotate }) => {
    await fc.assert(
      fc.asyncProperty(
        worldsWithoutNode,
        worldsWithoutNode,
        fc.array(fc.tuple(missing, fc.subarray([0, 1, 2, 3], { minLength: 1 })), {
          minLength: 2,
          maxLength: 4,
        }),
        async (world, base, completions) => {
          const write = async (more: Parameters<typeof withObjects>[1]): Promise<void> => {
            await writeFile(join(folder, 'world.json'), withObjects(world, more))
            await writeFile(join(folder, 'base.json'), withObjects(base, more))
          }
          for (const command of COMMANDS) {
            const args = [...command, '--offline', '-f', 'world.json', ...SETTINGS]
            await write([])
            const before = await ask(args, folder)
            for (const [objects, chosen] of completions) {
              await write(objects.filter((_object, at) => chosen.includes(at)))
              const after = await ask(args, folder)
              tried += 1
              expect(
                contradictions(before, after),
                `${command.join(' ')}\n${before.text}\nTHEN\n${after.text}`,
              ).toEqual([])
            }
          }
        },
      ),
      { numRuns: WORLDS },
    )
    await annotate(`${tried} completions of ${WORLDS} worlds`)
    // docs/assumptions.md names this number: six commands, two completions at least.
    expect(tried).toBeGreaterThanOrEqual(WORLDS * 12)
  },
)
