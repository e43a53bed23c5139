// Reads one settings file. It may be a stranger's: it is small, it is YAML without anchors, each field is checked, and its paths
// stay below its folder. Whatever is wrong is an error with its line and column.
import { realpathSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { getOrCreate } from '@kleym/shared/core/base/get-or-create.ts'
import type { ScmConfigText } from '@kleym/shared/core/analysis/index.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { isAlias, isNode, isScalar, parseDocument, visit, type Document } from 'yaml'
import { KleymError } from '../io/errors.ts'
import { lineAndColumn } from '../sources/document.ts'
import { readBounded, systemReason } from '../sources/files.ts'
import { readScmConfigFile } from '../sources/scm-config.ts'
import { eventsOf, YamlRefusal } from '../sources/yaml-events.ts'
import { SETTING_NAMES, settingsSchema, type SettingsWritten } from './file-format.ts'

/** The largest settings file, in bytes. */
const SETTINGS_MAX = 256 * 1024
/** The deepest brackets in one: SCM's configuration has four. */
const DEPTH_MAX = 32

/** A settings file: its sections as written, and SCM's configurations as read when they are asked for. */
export interface SettingsFile {
  /** As a person reads it: relative to the working folder if it is below it. */
  readonly name: string
  readonly path: string
  readonly general: SettingsWritten
  readonly contexts: ReadonlyMap<string, SettingsWritten>
  /** SCM's configurations of a section; throws a KleymError if one cannot be read. */
  readonly scmConfigs: (section: SettingsWritten) => Promise<readonly ScmConfigText[]>
}

type Path = readonly (string | number)[]

/** Reads a settings file. Throws a usage error that says what is wrong in it, and where. */
export async function readSettingsFile(path: string, name: string): Promise<SettingsFile> {
  return settingsOfText(await textOf(path, name), path, name)
}

/** The same of the text that a settings file has, or is to have. */
export function settingsOfText(text: string, path: string, name: string): SettingsFile {
  const placeAt = (offset: number | undefined): string => {
    if (offset === undefined) return ''
    const { line, column } = lineAndColumn(text, offset)
    return `:${line}:${column}`
  }
  try {
    eventsOf(text, DEPTH_MAX)
  } catch (thrown) {
    if (!(thrown instanceof YamlRefusal)) throw thrown
    throw wrong(`${name}${placeAt(thrown.offset)}`, thrown.message, 'correct the YAML')
  }
  // It warns of nothing then, and more than one document is an error.
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: true, prettyErrors: false })
  const fail = (at: Path | number, why: string, fix: string): KleymError =>
    wrong(`${name}${placeAt(typeof at === 'number' ? at : offsetAt(document, at))}`, why, fix)
  const [fault] = document.errors
  if (fault?.code === 'MULTIPLE_DOCS')
    throw fail(fault.pos[0], 'it holds a second document', 'write all settings into one document')
  if (fault !== undefined) throw fail(fault.pos[0], fault.message, 'correct the YAML')
  visit(document, {
    Node: (key, node) => {
      const at = node.range?.[0] ?? 0
      if (isAlias(node) || ('anchor' in node && node.anchor !== undefined))
        throw fail(at, 'it has an anchor or an alias', 'write each value out')
      if (node.tag !== undefined) throw fail(at, `it has a tag (${node.tag})`, 'write the value without it')
      if (key !== 'key') return
      if (!isScalar(node) || typeof node.value !== 'string')
        throw fail(at, 'it has a key that is no text', 'put the key in quotes')
      if (node.value === '__proto__') throw fail(at, 'no key may be __proto__', 'choose another')
    },
  })
  const value: unknown = document.toJS() ?? {}
  const parsed = settingsSchema().safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw faultOf(issue, fail)
  }
  const { contexts = {}, ...general } = parsed.data
  const folder = dirname(path)
  // Thousands of sections may name one large file.
  const offsets = offsetsOfTexts(document)
  const read = new Map<string, Promise<ScmConfigText>>()
  return {
    name,
    path,
    general,
    contexts: new Map(Object.entries(contexts)),
    scmConfigs: ({ scmConfig = [] }) =>
      Promise.all(
        [scmConfig].flat().map(async (one): Promise<ScmConfigText> => {
          if (typeof one !== 'string') return { config: one, source: name }
          const where = `${name}${placeAt(offsets.get(one))}, scmConfig ${one}`
          const file = pathBelow(folder, one, where)
          const { config } = await getOrCreate(read, file, () => readScmConfigFile(file, folder, where))
          return { config, source: `${one} (${name})` }
        }),
      ),
  }
}

async function textOf(path: string, name: string): Promise<string> {
  const bytes = await readBounded({ name, path })
  if (!(bytes instanceof Uint8Array)) throw wrong(name, bytes.why, 'make it readable, or pass --no-config')
  if (bytes.length > SETTINGS_MAX)
    throw wrong(name, `it is larger than ${SETTINGS_MAX / 1024} KiB`, 'leave only settings in it')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw wrong(name, 'it is not UTF-8', 'save the file as UTF-8')
  }
}

/** A path that leads out of the folder, also by a link, could have any file of the machine shown in an error. */
function pathBelow(folder: string, path: string, where: string): string {
  const fix = 'name a file below the folder of the settings file, or pass --scm-config FILE'
  try {
    const [root, real] = [realpathSync.native(folder), realpathSync.native(resolve(folder, path))]
    if (real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return real
  } catch (error) {
    throw wrong(where, systemReason(error), fix)
  }
  throw wrong(where, 'it leads out of the folder of the settings file', fix)
}

/** What zod found, as far as it is read here. */
interface Issue {
  readonly code: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
}

/** What a settings file may not hold, though other tools have it in theirs: a pull request could wave itself through. */
const NEVER_HERE: ReadonlySet<string> = new Set(['failOn', 'fail-on', 'exclude', 'suppress', 'strict'])

function faultOf(
  issue: Issue | undefined,
  fail: (at: Path, why: string, fix: string) => KleymError,
): KleymError {
  const path = (issue?.path ?? []).map((key) => (typeof key === 'number' ? key : String(key)))
  const [unknown] = issue?.keys ?? []
  if (issue === undefined || unknown === undefined)
    return fail(
      path,
      `${path.join('.') || 'it'} ${issue?.message ?? 'is wrong'}`,
      'correct it: docs/settings.md',
    )
  const names = [...SETTING_NAMES, ...(path.length === 0 ? ['contexts'] : [])]
  if (NEVER_HERE.has(unknown))
    return fail(
      [...path, unknown],
      `${unknown} is no setting: a change could decide by it whether it passes`,
      'give it on the command line',
    )
  return fail(
    [...path, unknown],
    `there is no setting ${unknown}`,
    didYouMean(unknown, names) ?? `the settings are ${names.join(', ')}`,
  )
}

/** Where each text stands first as a value. */
function offsetsOfTexts(document: Document.Parsed): ReadonlyMap<unknown, number> {
  const offsets = new Map<unknown, number>()
  visit(document, {
    Scalar: (key, node) => {
      if (key !== 'key' && !offsets.has(node.value)) offsets.set(node.value, node.range?.[0] ?? 0)
    },
  })
  return offsets
}

/** Where the value of a field stands, or what is nearest above it. */
function offsetAt(document: Document.Parsed, path: Path): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node)) return node.range?.[0]
  }
  return undefined
}

function wrong(where: string, why: string, fix: string): KleymError {
  return new KleymError('usage', {
    what: 'the settings file cannot be used',
    where,
    why,
    fix,
    docs: 'docs/settings.md',
  })
}

/** The path of a settings file as a person in a folder would write it. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path)
  return shown === '' || shown.split(sep).filter((part) => part === '..').length > 3 ? path : shown
}
