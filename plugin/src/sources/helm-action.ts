// Tells an action that another tool is to fill in (Helm, Jinja, ...) from one of SCM, whose templates are Go's text/template on
// `.PodMeta`, `.PodSpec`, `.NodeMeta`, `.NodeSpec`, `.TrustDomain`, `.ClusterName` and `.ClusterDomain` (docs/spire-facts.md §3).
import { parseTemplate } from '@kleym/shared/core/base/go/template/index.ts'

/** What only Helm has, outside of strings; or Jinja. */
const OF_ANOTHER =
  /\{\{(?:[^{}"`]|"[^"{}]*"|`[^`{}]*`)*?(?:(?<![\w)])\.(?:Values|Release|Chart|Capabilities|Files|Subcharts|Template)|(?<![\w.$])(?:include|tpl|required|lookup))\b[^{}]*\}\}|\{%[^%]*%\}/
const OF_SCM = /(?<![\w)])\.(?:PodMeta|PodSpec|NodeMeta|NodeSpec|TrustDomain|ClusterName|ClusterDomain)\b/
/** Braces in the string of an action are what Helm is told to leave there: {{ "{{ .PodMeta.Namespace }}" }}. */
const ACTION = /\{\{-?\s*["`]\{\{[^{}]*\}\}|\{\{[^{}]*\}\}/

/**
 * The first action of a text that SCM cannot be meant to render. What Go cannot read, and asks for nothing that only SCM has, is no
 * template of SCM's; one that does is faulty (KLM408).
 */
export function actionForAnotherTool(text: string): string | undefined {
  const [action] = OF_ANOTHER.exec(text) ?? []
  if (action !== undefined) return action
  const [first] = ACTION.exec(text) ?? []
  if (first === undefined || first.lastIndexOf('{{') > 0) return first
  return !OF_SCM.test(text) && parseTemplate(text).kind === 'syntax error' ? first : undefined
}
