// No document that kubectl reads is dismissed: random manifests, written as nobody lists them all (test/go-oracle/formats/door.go),
// are read by kubectl's own decoder in Go and by the plugin. What kubectl takes is an object of the plugin's with the same content,
// or a doubt that reaches it. `npm run campaign` tries 200,000.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printedBy } from '@kleym/testing/child-process.ts'
import { runs } from '@kleym/testing/runs.ts'
import { expect, onTestFinished, test } from 'vitest'
import { WANTED_KINDS } from '../../plugin/src/gather/wanted-kinds.ts'
import { loadFiles, type LoadedFiles } from '../../plugin/src/sources/load.ts'
import { agreement, kleyms, kubectls, type Reading } from '../../plugin/test/support/kubectl-reading.ts'
import { listAt, stringAt } from '../../shared/src/core/base/json.ts'
import { textAt } from '../../shared/test/go/vectors.ts'
import { groupOfApiVersion, qualifiedKind } from '../../shared/src/core/model/kinds.ts'

const SOURCE = join(import.meta.dirname, '..', 'go-oracle', 'formats')
/** Streams in the gate; each holds one to three documents. */
const STREAMS = 4_000
/** So many are held in memory at a time. */
const BATCH = 10_000
/** A first build compiles what kubectl is made of. */
const BUILD_MS = 10 * 60_000
/** The same in each gate; a campaign has another one at each run, and prints it with what fails. */
const SEED = Number(process.env['KLEYM_SEED'] ?? 1)

// Of ConfigMaps those alone that hold SCM's configuration; these hold nothing.
const DECIDING: ReadonlySet<string> = new Set(
  WANTED_KINDS.map(qualifiedKind).filter((kind) => kind !== 'ConfigMap'),
)

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

function loaded(text: string): Promise<LoadedFiles> {
  return loadFiles(
    { files: ['-'], recursive: false, kustomize: [] },
    { wanted: WANTED_KINDS, namespace: 'default', dumps: false },
    { cwd: tmpdir(), env: {}, stdin: bytesOf(text) },
  )
}

interface Named {
  readonly kind: string
  readonly namespace: string
  readonly name: string | undefined
}

/** A document of kubectl's that decides; undefined for any other. */
function decidingIn(document: string): Named | undefined {
  const value: unknown = JSON.parse(document)
  const group = groupOfApiVersion(stringAt(value, 'apiVersion') ?? '')
  const kind = qualifiedKind({ group, kind: stringAt(value, 'kind') ?? '' })
  if (!DECIDING.has(kind)) return undefined
  const namespace = stringAt(value, 'metadata', 'namespace') || 'default'
  return { kind, namespace, name: stringAt(value, 'metadata', 'name') }
}

/** Values of JSON begin a text, behind which kubectl's reader stops at some marks without a word, or skips a document. */
const JSON_FIRST = /^\s*\{/

/** Whether kubectl refused a text, stopped in it or skipped some, and the plugin has all that kubectl read, in its order. */
function isReadOn(text: string, kubectl: Reading, kleym: Reading): boolean {
  const { documents, refusal } = kubectl
  const isStopped = refusal !== undefined || JSON_FIRST.test(text.replace('\ufeff', ''))
  let at = 0
  return isStopped && documents.every((one) => (at = kleym.documents.indexOf(one, at) + 1) > 0)
}

/** Whether the plugin has the object, or says that it may be there. */
function isKept({ kind, namespace, name }: Named, files: LoadedFiles): boolean {
  const isIt = (one: Named): boolean =>
    one.kind === kind && one.name === name && (one.namespace === '' || one.namespace === namespace)
  const objects = files.objects.map(({ value }) => ({
    kind: qualifiedKind({
      group: groupOfApiVersion(stringAt(value, 'apiVersion') ?? ''),
      kind: stringAt(value, 'kind') ?? '',
    }),
    namespace: stringAt(value, 'metadata', 'namespace') ?? '',
    name: stringAt(value, 'metadata', 'name'),
  }))
  return (
    objects.some(isIt) ||
    files.nearMisses.length > 0 ||
    files.problems.some(
      ({ reach }) =>
        reach === undefined ||
        reach.some(
          (one) =>
            one.kind === kind &&
            (one.namespace ?? namespace) === namespace &&
            (one.name === undefined || one.name === name),
        ),
    )
  )
}

test(
  'no document that kubectl reads is dismissed, or read with another meaning',
  { timeout: Math.max(BUILD_MS, runs(BUILD_MS)) },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kleym-door-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const oracle = join(folder, 'oracle')
    printedBy('go', ['build', '-o', oracle, '.'], { cwd: SOURCE, ms: BUILD_MS })
    const faults: unknown[] = []
    const total = runs(STREAMS)
    let [decided, same] = [0, 0]
    for (let done = 0; done < total; done += BATCH) {
      const count = String(Math.min(BATCH, total - done))
      const args = ['-door', '-count', count, '-seed', String(SEED + done)]
      for (const line of printedBy(oracle, args, { ms: BUILD_MS }).trimEnd().split('\n')) {
        const row: unknown = JSON.parse(line)
        if (!Array.isArray(row)) throw new Error(`not a row: ${line}`)
        const [text, documents] = [textAt(row, 0), listAt({ documents: row[1] }, 'documents').map(String)]
        const deciding = documents.flatMap((document) => decidingIn(document) ?? [])
        decided += deciding.length
        const files = await loaded(text)
        const dismissed = deciding.filter((one) => !isKept(one, files))
        const [kubectl, kleym] = [kubectls(row), await kleyms(text)]
        const agreed = agreement(kubectl, kleym)
        if (agreed === 'the same documents') same++
        if (dismissed.length > 0) faults.push({ text, dismissed })
        // What kubectl refuses may be read all the same: a flaw in one document hides no other.
        else if (agreed === undefined && !isReadOn(text, kubectl, kleym))
          faults.push({ text, kubectl, kleym })
      }
    }
    expect(faults.slice(0, 10), `${faults.length} of ${total}, from seed ${SEED}`).toEqual([])
    // The corpus has enough of each.
    expect(decided).toBeGreaterThan(total / 2)
    expect(same).toBeGreaterThan(total / 10)
  },
)
