// The text of `spire-agent api fetch x509` (SPIRE v1.15.3): which SVIDs a process got, with their hints. Anything that holds a key is
// refused, and nothing of it is ever repeated: the JSON of the same command does.

/** An SVID that a process got. */
export interface FetchedSvid {
  readonly spiffeId: string
  /** Empty where it has none. */
  readonly hint: string
  /** The end of its validity, in RFC 3339; undefined: the text does not say. */
  readonly validUntil: string | undefined
}

/** The SVIDs of a text, or why it is refused. `why` holds nothing of the text. */
export type SvidTextReading =
  | { readonly ok: true; readonly svids: readonly FetchedSvid[] }
  | { readonly ok: false; readonly why: string }

/** The most characters of a text: it has some ten lines for each SVID. */
const TEXT_MAX = 1024 * 1024

const KEY = /PRIVATE KEY|svid_?key|private_?key/i
const ID = /^SPIFFE ID:\s*(spiffe:\/\/[A-Za-z0-9._/-]+)\s*$/
const HINT = /^Hint:\s*(.*?)\s*$/
/** As Go prints a time. */
const UNTIL = /^SVID Valid Until:\s*(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+0000 UTC\s*$/
const COUNT = /^Received (\d+) svids? after /
const DENIED = /PermissionDenied|no identity issued/

/** Reads the text. Never throws. */
export function readSvidText(text: string): SvidTextReading {
  if (KEY.test(text))
    return refused('it holds private keys: delete it, and give the text without -output json')
  if (text.length > TEXT_MAX) return refused('it is longer than a megabyte')
  if (/^\s*[[{]/.test(text))
    return refused('it is JSON, which holds keys: give the text of the command, without -output json')
  const svids: { spiffeId: string; hint: string; validUntil: string | undefined }[] = []
  let count: number | undefined
  for (const row of text.split(/\r?\n/)) {
    const [, received] = COUNT.exec(row) ?? []
    if (received !== undefined) {
      if (count !== undefined) return refused('it holds the answers of several calls')
      count = Number(received)
    }
    const [, spiffeId] = ID.exec(row) ?? []
    if (spiffeId !== undefined) svids.push({ spiffeId, hint: '', validUntil: undefined })
    const [, hint] = HINT.exec(row) ?? []
    const last = svids.at(-1)
    if (hint !== undefined && last !== undefined) last.hint = hint
    const [, day, time] = UNTIL.exec(row) ?? []
    if (day !== undefined && last !== undefined) last.validUntil = `${day}T${time}Z`
  }
  if (count === undefined && svids.length === 0 && DENIED.test(text)) return { ok: true, svids }
  if (count === undefined) return refused('it is not what spire-agent api fetch x509 prints')
  if (count !== svids.length) return refused(`it tells of ${count} SVIDs and shows ${svids.length}`)
  return { ok: true, svids }
}

function refused(why: string): SvidTextReading {
  return { ok: false, why }
}
