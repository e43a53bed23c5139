// As much of an XML parser as our documents need: elements, attributes in double quotes, text, the five entities. It
// throws on anything else, so a document that it reads is well-formed (XML 1.0 §2.1).

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Element[]
  readonly text: string
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const NAME = '[A-Za-z_][\\w.-]*'
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

interface OpenElement extends Element {
  readonly children: Element[]
  text: string
}

/** Parses a document; throws with the place of what is wrong. */
export function parseXml(document: string): Element {
  // What XML 1.0 allows nowhere (§2.2), a carriage return aside, which we never write.
  const forbidden = /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(document)
  if (forbidden !== null) throw new Error(`forbidden character at ${forbidden.index}`)
  if (!document.startsWith(DECLARATION)) throw new Error('no declaration')
  const token = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)(/?)>|([^<]+)`, 'gy')
  token.lastIndex = DECLARATION.length
  const root: OpenElement = { name: '', attributes: {}, children: [], text: '' }
  const open: OpenElement[] = [root]
  while (token.lastIndex < document.length) {
    const at = token.lastIndex
    const found = token.exec(document)
    const parent = open.at(-1)
    if (found === null || parent === undefined)
      throw new Error(`not well-formed at ${at}: ${document.slice(at, at + 60)}`)
    const [, closes, name = '', attributes = '', empty, text] = found
    if (text !== undefined) parent.text += unescaped(text)
    else if (closes === '/') {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element at ${at}`)
    } else {
      const element: OpenElement = { name, attributes: attributesOf(attributes), children: [], text: '' }
      parent.children.push(element)
      if (empty !== '/') open.push(element)
    }
  }
  const [only, another] = root.children
  if (open.length !== 1 || only === undefined || another !== undefined || root.text.trim() !== '')
    throw new Error('not exactly one closed element')
  return only
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(new RegExp(`(${NAME})="([^"]*)"`, 'g'))]
  const names = pairs.map(([, name = '']) => name)
  if (new Set(names).size < names.length) throw new Error(`an attribute stands twice: ${text}`)
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> in text')
  return text.replaceAll(/&([^;]*;?)/g, (_, name: string) => {
    const character = ENTITIES[name.replace(/;$/, '')]
    if (character === undefined || !name.endsWith(';')) throw new Error(`no entity: &${name}`)
    return character
  })
}
