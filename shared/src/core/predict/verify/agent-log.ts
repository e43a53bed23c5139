// The selectors that an agent found for a process, from its log (SPIRE 1.9 to 1.15, in text or in JSON): the line at level debug of each
// attestation, which holds all of them, or that of a refusal, which since 1.15.2 holds those that `log_selectors` allows.
// Sources: SPIRE v1.15.3, pkg/agent/attestor/workload/workload.go and pkg/agent/endpoints/workload/handler.go; logrus v1.9 for the
// form of a line.
import { isRecord, own, stringAt, type JsonRecord } from '../../base/json.ts'

/** What an agent found for a process. */
export interface AttestedSelectors {
  /** `type:value`. */
  readonly selectors: readonly string[]
  /** Whether these are all of them; else only those of kinds that the log may show. */
  readonly isWhole: boolean
}

/** The selectors of the last process of a pod and a container in a log, or why there are none. `why` holds nothing of the log. */
export type AgentLogReading =
  | ({ readonly ok: true } & AttestedSelectors)
  | { readonly ok: false; readonly why: string }

/** What the agent logs of a process that it has attested, and of one that has no entry. */
export const ATTESTED = 'PID attested to have selectors'
export const REFUSED = 'No identity issued'
const POD_UID = 'k8s:pod-uid:'
const CONTAINER = 'k8s:container-name:'
/** The most characters of a line that is looked at: a process has some hundred selectors. */
const LINE_MAX = 256 * 1024

/** Reads a log, or a part of one. Never throws. */
export function readAgentLog(
  text: string,
  { podUid, container }: { readonly podUid: string | undefined; readonly container: string },
): AgentLogReading {
  const all = text.split(/\r?\n/).flatMap((line) => selectorsOfLine(line) ?? [])
  if (all.length === 0)
    return {
      ok: false,
      why: `no line of it has selectors: the agent writes them at log level DEBUG ("${ATTESTED}"), or, since SPIRE 1.15.2, with log_selectors ("${REFUSED}")`,
    }
  const ofPod = all.filter((one) => mayHave(one, POD_UID, podUid))
  if (ofPod.length === 0)
    return { ok: false, why: `it has selectors of ${all.length} calls, and none of them is of the pod` }
  // A process of another container may be the one that asked: then that is what is wrong.
  const ofContainer = ofPod.filter((one) => mayHave(one, CONTAINER, container))
  const asked = ofContainer.length > 0 ? ofContainer : ofPod
  // A refusal stands in the log right after the line of its attestation.
  const last = asked.findLast(({ isWhole }) => isWhole) ?? asked.at(-1)
  return last === undefined ? { ok: false, why: 'it has no selectors' } : { ok: true, ...last }
}

/** Whether selectors may be those of a process of a container. */
export function mayBeOf(
  one: AttestedSelectors,
  { podUid, container }: { readonly podUid: string | undefined; readonly container: string },
): boolean {
  return mayHave(one, POD_UID, podUid) && mayHave(one, CONTAINER, container)
}

/** Whether a process may have a selector: it has it, or none of its kind is shown. */
function mayHave({ selectors }: AttestedSelectors, prefix: string, value: string | undefined): boolean {
  const same = selectors.filter((one) => one.startsWith(prefix))
  return same.length === 0 || value === undefined || same.includes(prefix + value)
}

/** What a line says an agent found for a process; undefined: it is no such line. */
export function selectorsOfLine(line: string): AttestedSelectors | undefined {
  const isWhole = line.includes(ATTESTED)
  if (line.length > LINE_MAX || (!isWhole && !line.includes(REFUSED))) return undefined
  const found = fieldOfLine(line, 'selectors')
  const selectors = found === undefined ? [] : selectorsIn(found)
  return selectors.length === 0 ? undefined : { selectors, isWhole }
}

/** A field of a line, in text as Go quotes it or in JSON; undefined: it has none. */
export function fieldOfLine(line: string, name: string): unknown {
  if (line.length > LINE_MAX) return undefined
  // `kubectl logs --prefix` and `--timestamps` write before the line.
  const at = line.indexOf('{"')
  if (at >= 0) {
    try {
      const value: unknown = JSON.parse(line.slice(at))
      if (isRecord(value)) return own(value, name)
    } catch {
      // A line of text may hold a brace.
    }
  }
  const [, value] = new RegExp(`(?:^|\\s)${name}=("(?:[^"\\\\]|\\\\.)*"|\\S+)`).exec(line) ?? []
  return value?.startsWith('"') === true ? unquoted(value.slice(1, -1)) : value
}

const ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([^xuU]))/gi
const SHORT: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
}

function unquoted(text: string): string {
  return text.replaceAll(ESCAPE, (_, x?: string, u?: string, wide?: string, short?: string) => {
    const code = x ?? u ?? wide
    if (code !== undefined) {
      const point = Number.parseInt(code, 16)
      return point <= 0x10_ff_ff ? String.fromCodePoint(point) : '\u{fffd}'
    }
    return SHORT[short ?? ''] ?? short ?? ''
  })
}

/** A message of protobuf as Go prints it: `type:"k8s" value:"ns:team-a"`, with one space between or two. */
const MESSAGE = /type:\s*"((?:[^"\\]|\\.)*)"\s+value:\s*"((?:[^"\\]|\\.)*)"/g
/** Where the next selector of a list begins. */
const NEXT = /,(?=[a-z][a-z0-9_]*:)/

/** `type:value` of each selector in a field of a line. */
export function selectorsIn(found: unknown): readonly string[] {
  if (Array.isArray(found)) return found.flatMap((one: unknown) => (isRecord(one) ? selectorOf(one) : []))
  if (typeof found !== 'string') return []
  if (found.startsWith('['))
    return [...found.matchAll(MESSAGE)].map(
      ([, type = '', value = '']) => `${unquoted(type)}:${unquoted(value)}`,
    )
  return found.split(NEXT).filter((one) => /^[^:\s]+:./.test(one))
}

function selectorOf(one: JsonRecord): readonly string[] {
  const [type, value] = [stringAt(one, 'type'), stringAt(one, 'value')]
  return type === undefined || value === undefined ? [] : [`${type}:${value}`]
}
