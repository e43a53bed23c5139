// Programs that apply what stands elsewhere: `kubectl apply -f ADDRESS`, `helm install NAME REPOSITORY/CHART`. They stand in files of other
// tools, in scripts, and in what containers run. What a program takes from the tree is read anyway.
import { isTyped } from '@kleym/shared/core/model/kinds.ts'
import { listAt, stringAt, walk } from '@kleym/shared/core/base/json.ts'

/** kubectl or helm with what it does: as words, by a path, or as the image of a container. Bounded, for a text may repeat them without end. */
const KUBECTL =
  /(?:^|[\s/('"`$])(?:kubectl|oc)(?:[:@]\S{0,255})?["')]?\s.{0,400}?\b(?:apply|create|replace)\b/
const HELM = /(?:^|[\s/('"`$])helm(?:[:@]\S{0,255})?["')]?\s.{0,400}?\b(?:install|upgrade)\b/
/** Where a shell ends a command. What is piped into a program is a part of what that applies. */
const END_OF_COMMAND = /\n|;|&&|\|\|/
/** An address, or a folder of a repository as kustomize takes it. A SPIFFE ID is a name: nothing can be fetched there. */
const ADDRESS = /^(?:(?!spiffe:)[a-z][a-z0-9+]*:\/\/\S+|[\w.-]+\.[a-z]+\/\S+?(?:\/\/\S|[?&]ref=\S+))/
/** A chart of a repository that helm knows by its name: https://helm.sh/docs/helm/helm_install/ */
const CHART_OF_REPOSITORY = /^[\w-]+\/[\w-]+$/

/** What the commands in a document apply that is not in the tree: addresses, and charts of repositories. */
export function appliedBy(value: unknown): readonly string[] {
  return [...new Set(commandsIn(value).flatMap(appliedIn))]
}

/** The commands in a document, and in texts with several of them. */
export function commandsIn(value: unknown): readonly string[] {
  const isObject = isTyped(value)
  const found: string[] = []
  // In an object, a text is a command only where a container runs it, or where it is a script.
  walk(value, (part, key) => {
    if (isObject && NOT_LOOKED_INTO.has(key)) return false
    const isCommand = isObject ? SCRIPT.test(key) : key !== ''
    if (typeof part === 'string' && (isCommand || part.startsWith('#!'))) found.push(part)
    const isLine = isCommand && Array.isArray(part) && part.every((one) => typeof one === 'string')
    const command = isLine ? part.join(' ') : commandOf(part)
    if (isLine || command !== '') found.push(command)
    return !isLine
  })
  return found
}

/** What people write on an object, and what a container runs, which is looked at as a whole. */
const NOT_LOOKED_INTO: ReadonlySet<string> = new Set(['metadata', 'status', 'command', 'args'])
const SCRIPT = /^(?:script|source)$|\.sh$/

/** What a container runs, with the variables that it gives; its image is the program where no command is given. Empty for what runs nothing. */
function commandOf(container: unknown): string {
  const [command, args] = [listAt(container, 'command'), listAt(container, 'args')]
  if (command.length + args.length === 0) return ''
  const program = command.length > 0 ? [] : [stringAt(container, 'image') ?? '']
  const variables = new Map(
    listAt(container, 'env').map((one) => [stringAt(one, 'name') ?? '', stringAt(one, 'value')]),
  )
  const used = new Map<string, number>()
  return [...program, ...command, ...args]
    .join(' ')
    .replaceAll(/\$[{(]?(\w+)[)}]?/g, (text, name: string) => {
      const value = variables.get(name)
      const times = (used.get(name) ?? 0) + 1
      used.set(name, times)
      return value === undefined || (times > USES && value.length > SHORT) ? text : value
    })
}

/** So many uses of a variable are filled in, and all of a short one such as `kubectl`: else a small container would make a text without end. */
const USES = 4
const SHORT = 16

/** The same in a text that holds commands. */
export function appliedIn(text: string): readonly string[] {
  if (!/kubectl|helm|\boc\b/.test(text)) return []
  return text
    .replaceAll(/\\\r?\n/g, ' ')
    .split(END_OF_COMMAND)
    .flatMap((command) => {
      const isOfHelm = HELM.test(command)
      if (!isOfHelm && !KUBECTL.test(command)) return []
      const words = command.split(/[\s"'`()]+/).map((word) => word.replace(/^-[\w-]+=/, ''))
      return words.filter((word) => ADDRESS.test(word) || (isOfHelm && CHART_OF_REPOSITORY.test(word)))
    })
}
