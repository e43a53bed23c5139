// What the text of a document proves to be in none of its values is in none: whoever goes through the values finds nothing either.
import { isRecord, keysOf } from '@kleym/shared/core/base/json.ts'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { expect, test } from 'vitest'
import { WANTED_KINDS } from '../../src/gather/wanted-kinds.ts'
import { commandProblem } from '../../src/sources/changing-commands.ts'
import { appliedBy } from '../../src/sources/commands.ts'
import { embeddedProblem } from '../../src/sources/embedded-objects.ts'
import { parse } from '../../src/sources/load.ts'
import { placeholderInObject } from '../../src/sources/placeholders.ts'
import { runs } from '@kleym/testing/runs.ts'
import { isMarked, mayHoldObjects } from '../../src/sources/held-text.ts'

const AT = 'https://example.org/all.yaml'
const HELD = {
  apiVersion: 'kleym.sonda.red/v1alpha1',
  kind: 'InferenceIdentityBinding',
  metadata: { name: 'a' },
}
const HELD_TEXT = JSON.stringify(HELD)
const ENCODED = Buffer.from(HELD_TEXT).toString('base64')

/** For what the text of a document says that its object is searched, and what a search finds. */
async function foundIn(
  text: string,
): Promise<readonly { readonly searched: readonly string[]; readonly found: readonly string[] }[]> {
  const { documents } = await parse('a.yaml', new TextEncoder().encode(text))
  return documents.flatMap((document) => {
    const { value } = document
    if (!isRecord(value)) return []
    const origin = { file: 'a.yaml', document: 1, line: 1 }
    const found = {
      placeholders:
        JSON.stringify(placeholderInObject(value, true)) !==
        JSON.stringify(placeholderInObject(value, false)),
      commands: appliedBy(value).length > 0 || commandProblem(value, origin, WANTED_KINDS) !== undefined,
      objects: embeddedProblem(value, origin, WANTED_KINDS) !== undefined,
    }
    const searched = [
      ...(isMarked(document.text) ? ['placeholders', 'commands'] : []),
      ...(mayHoldObjects(document.text) ? ['objects'] : []),
    ]
    return { searched, found: keysOf(found).filter((what) => found[what]) }
  })
}

const HEAD = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n'
const wrapped = (width: number): string => ENCODED.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n    ')

test.each<[string, string, 'placeholders' | 'commands' | 'objects']>([
  ['a placeholder', `${HEAD}  a: '{{ .Values.x }}'\n`, 'placeholders'],
  ['a placeholder behind escapes', `${HEAD}  a: "\\x24\\x7bX}"\n`, 'placeholders'],
  ['a secret of SOPS', `${HEAD}  a: ENC[AES256_GCM,data:x]\n`, 'placeholders'],
  ['a placeholder over two lines', `${HEAD}  a: x <your\n    name>\n`, 'placeholders'],
  [
    'a command',
    `${HEAD}  containers: [{name: a, image: x, args: [kubectl, apply, -f, "${AT}"]}]\n`,
    'commands',
  ],
  [
    'a command of two halves',
    `${HEAD}  containers: [{name: a, env: [{name: C, value: ctl}], command: [sh, -c, 'kube$(C) apply -f ${AT}']}]\n`,
    'commands',
  ],
  [
    'a command of the server',
    `${HEAD}  containers: [{name: a, image: x, command: [spire-server, entry, create]}]\n`,
    'commands',
  ],
  ['an object', `${HEAD}  a: ${HELD_TEXT}\n`, 'objects'],
  ['an object as a text', `${HEAD}  a: |\n    ${HELD_TEXT}\n`, 'objects'],
  ['an object in base64', `${HEAD}  a: ${ENCODED}\n`, 'objects'],
  ['an object in base64, over short lines', `${HEAD}  a: |\n    ${wrapped(7)}\n`, 'objects'],
  [
    'an object whose apiVersion is an alias',
    `kind: Deployment\n&k apiVersion: apps/v1\nspec: {x: {*k : spire.spiffe.io/v1alpha1, kind: ClusterSPIFFEID, spec: {}}}\n`,
    'objects',
  ],
])('%s shows in the text', async (_, text, what) => {
  const [one] = await foundIn(text)
  expect(one?.searched).toContain(what)
  expect(one?.found).toContain(what)
})

test('a plain workload is not gone through for anything', async () => {
  const [one] = await foundIn(
    `${HEAD}  selector: {matchLabels: {app: a}}\n  template: {spec: {nodeName: n}}\n`,
  )
  expect(one?.searched).toEqual([])
})

test('what no fact shows is found by nobody', async () => {
  const part = fc.oneof(
    fc.constantFrom(
      '{{ .Values.x }}',
      '{%',
      '%}',
      '${X}',
      '$(X)',
      '<your-name>',
      'ENC[AES256_GCM,x]',
      'kube',
      'ctl',
      'oc',
      'kubectl apply -f',
      'oc label pods a b=c',
      'spire-server entry create',
      'helm install x',
      AT,
      'bitnami/x',
      HELD_TEXT,
      ENCODED,
      wrapped(5),
      '\n',
      ' ',
      "'",
      '"',
      'apiVersion',
      ': v1',
      'kind: Pod',
      '&a',
      '*a',
      '\\',
      '#',
      '#!/bin/sh\n',
    ),
    fc.string(),
  )
  const leaf = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''))
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      leaf,
      fc.constant(HELD),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(
        fc.oneof(
          fc.constantFrom('labels', 'containers', 'name', 'args', 'command', 'image', 'script', 'kind'),
          leaf,
        ),
        tie('value'),
        { maxKeys: 3 },
      ),
    ),
  })).value
  const written = fc.constantFrom<(value: unknown) => string>(
    (one) => JSON.stringify(one),
    (one) => JSON.stringify(one, undefined, 1),
    (one) => stringify(one),
    (one) => stringify(one, { defaultStringType: 'QUOTE_SINGLE', lineWidth: 20 }),
    (one) => stringify(one, { defaultStringType: 'BLOCK_FOLDED', lineWidth: 20 }),
    (one) => stringify(one, { defaultStringType: 'BLOCK_LITERAL' }),
    (one) => stringify(one, { collectionStyle: 'flow' }),
  )
  let documents = 0
  await fc.assert(
    fc.asyncProperty(value, written, async (spec, write) => {
      const text = write({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec })
      for (const { searched, found } of await foundIn(text)) {
        documents++
        expect({ text, missed: found.filter((what) => !searched.includes(what)) }).toEqual({
          text,
          missed: [],
        })
      }
    }),
    { numRuns: runs(1_000) },
  )
  expect(documents).toBeGreaterThan(runs(1_000) / 2)
})
