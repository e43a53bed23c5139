// The DNS names that spire-server takes in a registration entry: `pkg/common/x509util/dns.go` of SPIRE v1.15.3, which
// asks golang.org/x/net/idna, built with Go 1.26 (Unicode 15; Go 1.27 would bring stricter tables). It is no host-name
// check: almost every ASCII character passes. One bad name refuses the whole entry.
import { decode, encode } from 'punycode/punycode.es6.js'
import { utf8 } from '../../base/text/bytes.ts'

/** Whether spire-server takes a DNS name; `why` completes a sentence that begins with the name. */
export type DnsNameVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly why: string }
  /** An international (`xn--`) label of letters whose Unicode rules are not followed here. */
  | { readonly kind: 'unknown'; readonly why: string }

const NAME_MAX = 253
const LABEL_MAX = 63
const ACCEPTED: DnsNameVerdict = { kind: 'accepted' }

/** Whether spire-server takes `name` as a DNS name of a registration entry. */
export function dnsNameVerdict(name: string): DnsNameVerdict {
  const stray = /[^\x00-\x7f]/u.exec(name)
  if (stray !== null)
    return refuse(`has ${JSON.stringify(stray[0])} at character ${stray.index + 1}, which is not ASCII`)
  const wildcard = name.startsWith('*.')
  const rest = wildcard ? name.slice(2) : name
  if (rest.includes('*')) return refuse('has a "*" that is not alone at the start, as in "*.example.org"')
  // SPIRE judges the name without the blanks around it, and keeps them. In ASCII, Go and JavaScript trim the same.
  const domain = rest.trim()
  if (domain === '') return refuse(wildcard ? 'has nothing after "*."' : 'is empty or blank')
  if (domain.endsWith('.')) return refuse('ends with a dot')
  return domainVerdict(domain)
}

function domainVerdict(domain: string): DnsNameVerdict {
  if (domain.length > NAME_MAX) return refuse(`is over ${NAME_MAX} characters`)
  let verdict = ACCEPTED
  for (const label of domain.split('.')) {
    const next = labelVerdict(label)
    if (next.kind === 'refused') return next
    if (next.kind === 'unknown') verdict = next
  }
  return verdict
}

function labelVerdict(label: string): DnsNameVerdict {
  if (label === '') return refuse('has an empty label')
  const quoted = JSON.stringify(label)
  if (label.length > LABEL_MAX) return refuse(`has a label over ${LABEL_MAX} characters`)
  if (label.startsWith('xn--')) return internationalVerdict(label, quoted)
  const problem = hyphenProblem(utf8(label))
  return problem === undefined ? ACCEPTED : refuse(`has the label ${quoted}, which ${problem}`)
}

/** RFC 5891 §4.2.3.1, counted in bytes as x/net/idna does. */
function hyphenProblem(label: Uint8Array): string | undefined {
  const hyphen = 0x2d
  if (label[0] === hyphen) return 'starts with "-"'
  if (label.at(-1) === hyphen) return 'ends with "-"'
  return label[2] === hyphen && label[3] === hyphen ? 'has "-" at places 3 and 4' : undefined
}

/**
 * Characters that no international label may hold whatever stands beside them: controls, blanks, private ones and those
 * that a browser would replace by others, capitals above all; ß and final ς are taken as they are. Held against
 * x/net/idna for every code point.
 */
const FORBIDDEN = /[\p{Cc}\p{Z}\p{Co}[\p{Changes_When_NFKC_Casefolded}--[\u00df\u03c2]]]/v

/**
 * Characters that an international label may hold whatever stands beside them, unless they are forbidden: letters
 * written from left to right, no marks, from old blocks, which no later Unicode changes.
 */
const PLAIN =
  /^[\-0-9a-z[[\u00df-\u024f\u0370-\u03ff\u0430-\u045f]&&\p{Ll}]\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/v

function internationalVerdict(label: string, quoted: string): DnsNameVerdict {
  const wrong = (what: string): DnsNameVerdict =>
    refuse(`has the label ${quoted}, which is no valid punycode: ${what}`)
  if (/[^-0-9a-z]/.test(label)) return wrong('it may hold only a-z, 0-9 and "-"')
  const encoded = label.slice('xn--'.length)
  const text = decodePunycode(encoded)
  if (text === undefined) return wrong('it cannot be decoded')
  if (/^[\x00-\x7f]*$/.test(text)) return wrong('it stands for plain ASCII')
  // Two halves side by side become a character in JavaScript, and only their code tells.
  if (!text.isWellFormed() || encode(text) !== encoded) return wrong('it stands for half a character')
  const problem = hyphenProblem(utf8(text))
  if (problem !== undefined) return wrong(`what it stands for ${problem}`)
  if (text.normalize('NFC') !== text) return wrong('what it stands for is not in normal form')
  if (FORBIDDEN.test(text)) return wrong('it stands for a character that no name may hold')
  if (PLAIN.test(text)) return ACCEPTED
  return {
    kind: 'unknown',
    why: `has the international label ${quoted}, whose Unicode rules kleym does not follow`,
  }
}

/** The text that the part of a label after `xn--` stands for; undefined if it stands for none. */
function decodePunycode(encoded: string): string | undefined {
  try {
    return decode(encoded)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function refuse(why: string): DnsNameVerdict {
  return { kind: 'refused', why }
}
