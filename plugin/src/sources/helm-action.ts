// Tells an action that another tool is to fill in (Helm, Jinja, ...) from one of SCM, whose templates are Go's text/template on
// `.PodMeta`, `.PodSpec`, `.NodeMeta`, `.NodeSpec`, `.TrustDomain`, `.ClusterName` and `.ClusterDomain` (docs/spire-facts.md §3). A
// text of SCM may declare variables, and define and call templates, as Helm's may: what counts is what SCM cannot know.

/** What Go has without any further function: https://pkg.go.dev/text/template#hdr-Functions, its keywords and constants. */
const OF_GO: ReadonlySet<string> = new Set(
  (
    'and call html index slice js len not or print printf println urlquery eq ne lt le gt ge ' +
    'if else end range break continue with define block template true false nil'
  ).split(' '),
)

/** Functions that only Helm has, whatever they are given. */
const OF_HELM: ReadonlySet<string> = new Set(['include', 'tpl', 'required', 'lookup'])

const HELM_OBJECT = /(?<![\w)])\.(?:Values|Release|Chart|Capabilities|Files|Subcharts|Template)\b/
const SCM_OBJECT = /(?<![\w)])\.(?:PodMeta|PodSpec|NodeMeta|NodeSpec|TrustDomain|ClusterName|ClusterDomain)\b/
/** Words of an action that are neither fields, nor variables, nor in a string. */
const WORDS = /(?<![\p{L}\p{N}_.$])[\p{L}_][\p{L}\p{N}_]*/gu
const VARIABLES = /\$[A-Za-z_]\w*/g
const DECLARED = /(\$[A-Za-z_]\w*)\s*(?::=|,)/g
/** A string, to its end or to that of the action: what is not closed is looked at once. */
const STRINGS = /"(?:\\[\s\S]|[^"\\])*"?|`[^`]*`?|'(?:\\[\s\S]|[^'\\])*'?/g
const DEFINITION = /\{\{-?\s*(?:define|block)\s+["`]([^"`]*)["`]/g
const CALL = /^-?\s*template\s+["`]([^"`]*)["`]/

/** The first action of a text, with its braces, that SCM cannot be meant to render. In time that grows with the text. */
export function actionForAnotherTool(text: string): string | undefined {
  const jinja = /\{%[^%]*%\}/.exec(text)?.[0]
  const [, ...parts] = withoutComments(text).split('{{')
  const bodies = parts.flatMap((part) => (part.includes('}}') ? [part.slice(0, part.indexOf('}}'))] : []))
  const declared = new Set(
    bodies.flatMap((body) => [...withoutStrings(body).matchAll(DECLARED)].map(([, name]) => name)),
  )
  const defined = new Set([...text.matchAll(DEFINITION)].map(([, name]) => name))
  const found = parts.findIndex((part) => isForAnotherTool(part, declared, defined))
  return found === -1 ? jinja : `{{${upToEnd(parts, found)}`
}

function isForAnotherTool(
  part: string,
  declared: ReadonlySet<string | undefined>,
  defined: ReadonlySet<string | undefined>,
): boolean {
  const end = part.indexOf('}}')
  // SCM's braces in a string are what Helm is told to leave there: {{ "{{ .PodMeta.Namespace }}" }}.
  if (end === -1) return /^-?\s*["`]$/.test(part)
  const body = part.slice(0, end)
  const bare = withoutStrings(body)
  const called = CALL.exec(body)?.[1]
  const unknown = [...bare.matchAll(WORDS)].map(([word]) => word).filter((word) => !OF_GO.has(word))
  return (
    HELM_OBJECT.test(bare) ||
    (called !== undefined && !defined.has(called)) ||
    [...bare.matchAll(VARIABLES)].some(([name]) => !declared.has(name)) ||
    unknown.some((word) => OF_HELM.has(word)) ||
    // A function that SCM lacks, on what only SCM has, is a fault in a template of SCM: KLM408 tells it.
    (unknown.length > 0 && !SCM_OBJECT.test(bare))
  )
}

const AFTER_COMMENT = /^\s*-?\}\}/

/** A comment may hold braces. One that has no end is no comment, and no later one has an end. */
function withoutComments(text: string): string {
  let kept = ''
  let from = 0
  for (const { index } of text.matchAll(/\{\{(?:- )?\/\*/g)) {
    if (index < from) continue
    const end = text.indexOf('*/', index)
    if (end === -1) break
    kept += text.slice(from, index).replace(AFTER_COMMENT, '')
    from = end + '*/'.length
  }
  return kept + text.slice(from).replace(AFTER_COMMENT, '')
}

function withoutStrings(body: string): string {
  return body.replace(STRINGS, '""')
}

/** An action to its own end: a string in it may hold braces. */
function upToEnd(parts: readonly string[], from: number): string {
  const end = parts.findIndex((part, at) => at >= from && part.includes('}}'))
  const whole = parts.slice(from, end === -1 ? from + 1 : end + 1).join('{{')
  const close = whole.indexOf('}}')
  return close === -1 ? whole : whole.slice(0, close + 2)
}
