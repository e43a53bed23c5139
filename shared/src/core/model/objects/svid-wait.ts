// Whether a command waits for an SVID: SPIRE's own client (`spire-agent api fetch`, `api watch`) and spiffe-helper
// (https://github.com/spiffe/spiffe-helper) run on, or fail, until the agent hands one out. Only what surely does counts: a script
// that goes on without an SVID does not wait for one.
import { dig, type JsonRecord } from '../../base/json.ts'
import type { ContainerRole } from './pod.ts'
import { imageName, wordsOf } from './workload-api.ts'

/** The client of SPIRE's agent as a shell has it. */
const CLIENT = /(?:^|[\s;&|(/])spire-agent\s+api\s+(?:fetch|watch)\b/
const HELPER = /(?:^|[\s;&|(/])spiffe-helper(?:\s|$)/
const SHELL = /^(?:.*\/)?(?:ba|da|a|z)?sh$/
/** What goes on when a command fails, or does not wait for it to end. */
const GOES_ON = /\|\||\bif\b|\btimeout\b|\bnohup\b|[^&]&(?:[^&]|$)|&\s*$/
/** What makes a script of several commands end, or try again, where one of them fails. */
const INSISTS = /(?:^|[\s;])(?:until|while\s+!)\s|\bset\s+-[a-z]*e|&&/

/** Whether a container's own command waits for an SVID. */
export function waitsForSvid(container: JsonRecord | undefined, image: string | undefined): boolean {
  if (container === undefined) return false
  const words = wordsOf(container)
  const [first = ''] = words
  if (SHELL.test(first)) return scriptWaits(words)
  // Without a command the image's own runs, with the arguments.
  const program = dig(container, 'command') === undefined ? [imageName(image), ...words] : words
  return isClient(program)
}

/** Whether the `postStart` hook of a container waits for an SVID. */
export function hookWaitsForSvid(container: JsonRecord | undefined): boolean {
  const words = wordsOf(dig(container, 'lifecycle', 'postStart', 'exec'))
  return SHELL.test(words[0] ?? '') ? scriptWaits(words) : isClient(words)
}

/** Whether a container fetches SVIDs into files and ends: an init container that runs `api fetch -write`, or a helper that does not stay. */
export function writesSvidOnce(container: JsonRecord | undefined, role: ContainerRole): boolean {
  if (container === undefined || role !== 'init') return false
  const text = wordsOf(container).join(' ')
  return (
    (CLIENT.test(text) && /\s-?-write\b/.test(text)) ||
    (HELPER.test(text) && /-daemon-?mode[=\s]+false/i.test(text))
  )
}

function isClient([program = '', ...rest]: readonly string[]): boolean {
  const [name] = program.split('/').slice(-1)
  return name === 'spiffe-helper' || (name === 'spire-agent' && CLIENT.test(`spire-agent ${rest.join(' ')}`))
}

/** A shell with `-c SCRIPT`; `-e` among its flags ends the script where a command fails. */
function scriptWaits([, ...words]: readonly string[]): boolean {
  const at = words.findIndex((word) => /^-[a-z]*c$/.test(word))
  const script = words[at + 1]?.trim()
  if (at < 0 || script === undefined || !(CLIENT.test(script) || HELPER.test(script))) return false
  const isOne = !/[;\n|]/.test(script)
  const ends = words.slice(0, at + 1).some((word) => /^-[a-z]*e/.test(word))
  return !GOES_ON.test(script.replaceAll('&&', ' ; ')) && (isOne || ends || INSISTS.test(script))
}
