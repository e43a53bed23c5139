// What a policy sets labels and annotations to, by its text: the values that can be read bound what a label may be. Sources: anchors of Kyverno
// (https://kyverno.io/docs/policy-types/cluster-policy/mutate/#conditional-logic-using-anchors), Gatekeeper, whose AssignMetadata adds and never
// changes (https://open-policy-agent.github.io/gatekeeper/website/docs/mutation/), JSON patches, and CEL.
import { getOrCreate } from '../../base/get-or-create.ts'
import { isDns1123Label } from '../../base/text/kubernetes.ts'
import { dig, stringAt, walk, type JsonRecord } from '../../base/json.ts'
import { UNKNOWN_CONTAINER } from './pod.ts'

/** What becomes of a label that something sets. */
export interface LabelSetting {
  /** What it may be set to; undefined: that it may be removed. Absent: anything. */
  readonly values?: ReadonlySet<string | undefined>
  /** Whether it is set only where it is absent. */
  readonly isAddition: boolean
}

/** What policies set stands at these keys; all else is what they match, ask for, or are called. */
const SETTING: ReadonlySet<string> = new Set(['mutate', 'mutations', 'variables'])
const LOCATION = /metadata\.(?:labels|annotations)\.(?:"([^"]+)"|([^."]+))$/

/** The text of the fields of an object that set labels or annotations. */
export function labelTextOf(kind: string, value: JsonRecord, field?: string): string {
  if (field !== undefined) return JSON.stringify(partsOf(value, new Set([field])))
  const location = stringAt(value, 'spec', 'location')
  if (location === undefined) return JSON.stringify(partsOf(value))
  const [, quoted, plain = quoted] = LOCATION.exec(location) ?? []
  if (plain === undefined) return ''
  const key = kind === 'AssignMetadata' ? `+(${plain})` : plain
  return JSON.stringify({ [key]: dig(value, 'spec', 'parameters', 'assign', 'value') ?? ANYTHING })
}

/**
 * The names of the containers that an object adds to pods: those in what it sets, as fields or as the text of a patch. With an anchor of
 * Kyverno's it is one that is there.
 */
export function containersAddedBy(value: JsonRecord): readonly string[] {
  const names = new Set<string>()
  walk(partsOf(value), (part, key) => {
    if (typeof part === 'string') for (const name of containersInText(part)) names.add(name)
    const name = CONTAINERS.test(key) ? stringAt(part, 'name') : undefined
    if (name !== undefined && isDns1123Label(name)) names.add(name)
    return true
  })
  const [, located] = CONTAINER_AT.exec(stringAt(value, 'spec', 'location') ?? '') ?? []
  return located === undefined ? [...names] : [...names, located]
}

const CONTAINERS = /^(?:initC|c)ontainers$/
/** Gatekeeper creates the container that its path names, if it is not there. */
const CONTAINER_AT = /\.(?:initC|c)ontainers\[\s*name\s*:\s*["']?([a-z0-9-]+)["']?\s*\]/
/** A path of a JSON patch that ends at a whole container, or a container in CEL. */
const WHOLE_CONTAINER = /\/(?:initC|c)ontainers(?:\/(?:-|\d+))?["'\s,}]|\.(?:initC|c)ontainers\s*\{/
const NAME_IN_TEXT = /\bname["']?\s*:\s*["']?([^\s,"'}\]]+)/g

/**
 * The same in a text. A container without a plain name may have any name, unless it takes the name of an existing container
 * (`c.name`).
 */
function containersInText(text: string): readonly string[] {
  if (!WHOLE_CONTAINER.test(text)) return []
  const names = [...text.matchAll(NAME_IN_TEXT)].map(([, name = '']) => name)
  const plain = names.filter(isDns1123Label)
  const isThere = names.length > 0 && names.every((name) => /^\w+\.name$/.test(name))
  return plain.length > 0 || isThere ? plain : [UNKNOWN_CONTAINER]
}

const ANYTHING = '{{ }}'

function partsOf(value: unknown, fields = SETTING): readonly unknown[] {
  const parts: unknown[] = []
  walk(value, (part, key) => {
    const isPart = fields.has(key)
    if (isPart) parts.push(part)
    return !isPart
  })
  return parts
}

/** A label with a key that is worked out, or labels that are worked out as a whole. */
const COMPUTED =
  /\}\}[^"\\]{0,64}\\?"[ ]*:|labels\\?["']?\s*:\s*(?:\\?"?\{\{|(?!Object\.)[A-Za-z])|labels\/?\\?["']\s*(?:\+\s*(?!jsonpatch\.escapeKey\(\\?["'])|,\s*\\?"?value\\?"?\s*:\s*[A-Za-z])/
/** In a patch, what may stand between the path and the value. */
const OPERATION = /["']?[,\s]\s*["']?op["']?\s*:\s*["']?(?:add|replace|test)["']?/.source
/** What follows the key where its value can be read, as in a mapping or as in a patch; behind it nothing is added to it. */
const VALUE = new RegExp(
  `^\\)?(?:${OPERATION})?["']?\\s*[:,]?\\s*(?:["']?value["']?\\s*:\\s*)?(?:["']([A-Za-z0-9._-]*)["']|([A-Za-z0-9][A-Za-z0-9._-]*))(?=\\s*(?:[,}\\])]|$|\\n))`,
)

/** What may be the key of a label, with what may stand around it as a part of another. */
const WORD = /[A-Za-z0-9._/~-]+/g

/** A text that sets labels. It is gone through once: a tree may ask for as many keys as it has labels. */
export class SettingText {
  readonly #isComputed: boolean
  readonly #plain: string
  /** Where each word stands. */
  readonly #places = new Map<string, number[]>()

  constructor(text: string) {
    this.#isComputed = COMPUTED.test(text)
    // A text in JSON, as a patch or CEL is, has its quotes and line breaks as escapes; a path has the slash so.
    this.#plain = text
      .replaceAll(/\\+"/g, '"')
      .replaceAll(/\\+n/g, '\n')
      .replaceAll('~1', '/')
      .replaceAll(/[/.]?metadata[/.](?:labels|annotations)[/.]/g, ' ')
    for (const { 0: word, index } of this.#plain.matchAll(WORD))
      getOrCreate(this.#places, word, () => []).push(index)
  }

  names(key: string): boolean {
    return this.#places.has(key)
  }

  /** How it sets a label; undefined: it does not. */
  settingOf(key: string): LabelSetting | undefined {
    if (this.#isComputed) return { isAddition: false }
    const values = new Set<string | undefined>()
    let isAddition = true
    let isAnything = false
    let isSet = false
    for (const index of this.#places.get(key) ?? []) {
      const before = this.#plain.slice(Math.max(0, index - 3), index)
      // `"(key)": value` is a condition of Kyverno's.
      if (/["'][<^]?\($/.test(before)) continue
      isSet = true
      if (!before.endsWith('+(')) isAddition = false
      const after = index + key.length
      const [found, quoted, bare = quoted] = VALUE.exec(this.#plain.slice(after, after + 256)) ?? []
      if (found === undefined) isAnything = true
      else values.add(bare === 'null' && quoted === undefined ? undefined : bare)
    }
    if (!isSet) return undefined
    return isAnything ? { isAddition } : { values, isAddition }
  }
}
