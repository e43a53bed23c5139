// Bytes to text. Kubernetes manifests are UTF-8; a byte that is not ends the document that it is in, not the file.

/** Decoded text. */
export interface Decoded {
  readonly text: string
  /** The lines that are not UTF-8, counted from 1; their text holds U+FFFD instead. */
  readonly badLines: readonly number[]
}

const STRICT = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8 and drops a byte-order mark at the beginning. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  try {
    return { text: STRICT.decode(bytes), badLines: [] }
  } catch {
    return { text: new TextDecoder('utf-8').decode(bytes), badLines: findBadLines(bytes) }
  }
}

/** What begins a file whose content is elsewhere, or encrypted: git-crypt, Ansible Vault, Git LFS. */
const SEALS: readonly (readonly [begin: string, what: string, fix: string])[] = [
  ['\0GITCRYPT\0', 'encrypted by git-crypt', 'decrypt it first: git-crypt unlock'],
  [
    '$ANSIBLE_VAULT;',
    'encrypted by Ansible Vault',
    'give it decrypted: ansible-vault view FILE | kubectl kleym ... -f -',
  ],
  [
    'version https://git-lfs.github.com/spec/v1',
    'a pointer of Git LFS',
    'fetch its content first: git lfs pull',
  ],
]

/** Why the bytes of a file are no text of manifests; undefined where they may be. */
export function sealOf(bytes: Uint8Array): { readonly why: string; readonly fix: string } | undefined {
  const encoding = foreignEncoding(bytes)
  if (encoding !== undefined) return { why: `the file is ${encoding}`, fix: 'save the file as UTF-8' }
  const begin = new TextDecoder('latin1').decode(bytes.subarray(0, 64))
  const seal = SEALS.find(([text]) => begin.startsWith(text))
  if (seal !== undefined) return { why: `the file is ${seal[1]}`, fix: seal[2] }
  return isBinary(bytes) ? BINARY : undefined
}

/** Comments by which ytt fills in and changes what stands in its files: https://carvel.dev/ytt/docs/latest/ytt-syntax/ */
const YTT = /(?:^|\s)#@(?: ?(?:data\.values|load\(|def |if |for |end\b)|overlay\/|data\/|yaml\/|schema\/)/

/** Why a text is a template and no manifest, although it may look like one; undefined if it is none. */
export function templateOf(text: string): { readonly why: string; readonly fix: string } | undefined {
  return text.includes('#@') && YTT.test(text)
    ? {
        why: 'the file is a template or an overlay of ytt',
        fix: 'give what it makes: ytt -f DIR | kubectl kleym ... -f -',
      }
    : undefined
}

/**
 * Whether a file holds variables of Ansible that are encrypted: they make nothing by themselves, and a task that takes an object from one is
 * not known (fetching.ts). https://docs.ansible.com/ansible/latest/inventory_guide/intro_inventory.html#organizing-host-and-group-variables
 */
export function isEncryptedVariables(name: string, bytes: Uint8Array): boolean {
  const isOfVariables = /(?:^|[/\\])(?:group_vars|host_vars|vars)[/\\]/.test(name)
  return isOfVariables && new TextDecoder('latin1').decode(bytes.subarray(0, 15)) === '$ANSIBLE_VAULT;'
}

/** As git tells: a NUL among the first 8,000 bytes (https://git-scm.com/docs/gitattributes, "binary"). A text with a NUL that is UTF-8 all the same has a wrong character. */
function isBinary(bytes: Uint8Array): boolean {
  const begin = bytes.subarray(0, BINARY_LOOKED_AT)
  return begin.includes(0) && decodeUtf8(begin).badLines.length > 0
}

const BINARY_LOOKED_AT = 8000
const BINARY = {
  why: 'the file is binary',
  fix: 'give YAML or JSON, or leave the file out (--exclude FILE)',
}

/** `UTF-16` or `UTF-32` when the bytes begin with their mark, or with a letter of two bytes; else undefined. */
function foreignEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'UTF-32' : 'UTF-16'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'UTF-16'
  // No text begins with NUL but that of git-crypt, and in none it stands behind the first letter.
  const [first = 0, second = 0, third = 0] = bytes
  const isWide = bytes.length > 3 && (first === 0) !== (second === 0)
  return isWide && (second === 0 || third === 0) ? 'UTF-16 without a mark' : undefined
}

/** A line break is one byte that no other character contains, so lines can be told apart before decoding. */
function findBadLines(bytes: Uint8Array): readonly number[] {
  const bad: number[] = []
  for (let start = 0, line = 1; start < bytes.length; line++) {
    const found = bytes.indexOf(0x0a, start)
    const end = found === -1 ? bytes.length : found
    try {
      STRICT.decode(bytes.subarray(start, end))
    } catch {
      bad.push(line)
    }
    start = end + 1
  }
  return bad
}
