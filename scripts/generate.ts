// Writes every generated file from its one source: the CRD from its schemas, the pages of finding codes and the
// table of condition reasons from the registry, the chart's values from their table. A test runs it in memory and
// compares, so that none can drift.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { reportJsonSchema } from '../plugin/src/answers/schema.ts'
import { settingsJsonSchema } from '../plugin/src/settings/json-schema.ts'
import { bindingCrd } from '../shared/src/core/model/objects/crd.ts'
import { stringAt } from '../shared/src/core/base/json.ts'
import { FINDING_CODES } from '../shared/src/core/findings/registry/findings.ts'
import { findingPage, findingsIndex, reasonsPage } from './finding-pages.ts'
import { bindingPage } from './binding-reference.ts'
import { chartFiles } from './chart/files.ts'
import { commandReference } from './command-reference.ts'
import { editorSchemas } from './editor-schemas.ts'
import { explainPicture } from './explain-picture.ts'
import { findingExamples } from './finding-examples.ts'
import { exampleOutputs } from './example-outputs.ts'
import { identityTestPage } from './identity-test-reference.ts'
import { manPage } from './man-page.ts'
import { MAN_PAGE } from './release/archive-check.ts'

const GENERATED_YAML =
  '# Generated from shared/src/core/model/objects/binding-schema.ts by `npm run generate`; do not edit.\n'

/** The examples of the pages for a terminal, which has no docs folder. */
const TERMINAL_EXAMPLES = 'plugin/src/answers/explain/examples.generated.json'
const NO_EXAMPLE = { none: '' }

const ESTATE = 'examples/estate'
const ESTATE_OUTPUTS = `${ESTATE}/platform/kleym-outputs.yaml`

/** Every generated file: its path from the root of the project, and its content. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const examples = findingExamples()
  return new Map([
    [
      'charts/kleym/files/kleym.sonda.red_inferenceidentitybindings.yaml',
      GENERATED_YAML + stringify(bindingCrd(), { lineWidth: 0, aliasDuplicateObjects: false }),
    ],
    ...FINDING_CODES.map(
      (code) => [`docs/findings/${code}.md`, findingPage(code, examples[code] ?? NO_EXAMPLE)] as const,
    ),
    [TERMINAL_EXAMPLES, `${JSON.stringify(examples, null, 2)}\n`],
    ...chartFiles(),
    ['docs/findings/README.md', findingsIndex()],
    ['docs/reference/reasons.md', reasonsPage()],
    ['docs/reference/inferenceidentitybinding.md', bindingPage()],
    ['docs/reference/report.schema.json', reportJsonSchema()],
    ...editorSchemas(),
    ['docs/reference/identity-test.md', identityTestPage()],
    ['docs/reference/settings.schema.json', `${JSON.stringify(settingsJsonSchema(), null, 2)}\n`],
    ['docs/images/explain.svg', await explainPicture(root)],
    ['docs/reference/commands.md', commandReference()],
    [MAN_PAGE, manPage(await versionOf(root))],
    [ESTATE_OUTPUTS, exampleOutputs(await estateManifests(root))],
  ])
}

async function versionOf(root: string): Promise<string> {
  return stringAt(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')), 'version') ?? ''
}

async function estateManifests(root: string): Promise<readonly string[]> {
  const names = await readdir(join(root, ESTATE), { recursive: true })
  const files = names.filter((name) => name.endsWith('.yaml') && !ESTATE_OUTPUTS.endsWith(name)).toSorted()
  return Promise.all(files.map((name) => readFile(join(root, ESTATE, name), 'utf8')))
}

/** Writes what differs; returns the paths that it wrote. */
export async function writeGenerated(root: string): Promise<readonly string[]> {
  const written: string[] = []
  for (const [path, content] of await generatedFiles(root)) {
    const file = join(root, path)
    const before = await readFile(file, 'utf8').catch(() => undefined)
    if (before === content) continue
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    written.push(path)
  }
  return written
}

if (import.meta.main) {
  const written = await writeGenerated(join(import.meta.dirname, '..'))
  process.stdout.write(written.length === 0 ? 'nothing to write\n' : `${written.join('\n')}\n`)
}
