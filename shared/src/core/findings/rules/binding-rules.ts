// Findings about one binding that its own judgement and the install's settings show, without looking at a pod. Each
// rule is one function over one binding; the array's order does not matter, since findings are sorted.
import type { Analysis } from '../../analysis/index.ts'
import type { UnknownReason } from '../../model/unknown-reason.ts'
import {
  LLM_D_GROUP,
  type ObjectiveGroup,
  POOL_KIND,
  OBJECTIVE_KIND,
  qualifiedKind,
} from '../../model/kinds.ts'
import { DEFAULT_VARIANT_LABEL_KEY, VARIANT_LABEL_KEY_FLAG } from '../../model/names.ts'
import type { DeclaredBinding } from '../../model/objects/binding.ts'
import { type Judgement, verdictOf } from '../../decide/index.ts'
import { codeOfReason, FINDING_CODES, findingEntry } from '../registry/findings.ts'
import { servesLlmD } from '../../snapshot/index.ts'
import { NamespaceFilter, sourceText } from '../../predict/index.ts'
import { bindingSubject } from '../../model/objects/subject.ts'
import { finding, type Finding } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { ignoredBy } from './install-rules.ts'

interface RuleInput {
  readonly analysis: Analysis
  readonly binding: DeclaredBinding
  readonly judgement: Judgement
  readonly namespaces: NamespaceFilter
  /** Whether llm-d's objectives are served, looked up for all bindings together: it takes a look at every objective. */
  readonly llmD: boolean
}

type BindingRule = (input: RuleInput) => Finding | undefined

const RULES: readonly BindingRule[] = [
  notReady,
  poolShadowed,
  legacyObjective,
  classIgnored,
  namespaceIgnored,
]

/** What is found about bindings. One that is undetermined may be refused. */
export const bindingRule: Rule = ruleAtOnce(
  [
    ...FINDING_CODES.filter((code) => findingEntry(code).reason !== undefined && code !== 'KLM301'),
    'KLM110',
    'KLM111',
    'KLM401',
    'KLM409',
    'KLM410',
  ],
  bindingFindings,
  {
    more: (_, { judgements = [] }) =>
      [...judgements].flatMap((one) => (one.state === 'undetermined' ? [one.why] : [])),
  },
)

function bindingFindings(analysis: Analysis): readonly Finding[] {
  const namespaces = new NamespaceFilter(analysis.settings)
  const llmD = servesLlmD(analysis.snapshot)
  return analysis.compiled.flatMap(({ binding }) => {
    const judgement = analysis.now.judgements.get(binding.key)
    if (judgement === undefined) return []
    return RULES.flatMap((rule) => rule({ analysis, binding, judgement, namespaces, llmD }) ?? [])
  })
}

function notReady({ analysis, binding, judgement }: RuleInput): Finding | undefined {
  const verdict = verdictOf(judgement)
  const code = codeOfReason(verdict.reason)
  // Collisions have rules of their own: they name both sides and the proof.
  if (code === undefined || verdict.reason === 'IdentityCollision') return undefined
  const fix = judgement.state === 'undetermined' ? fixOfUnread(judgement.why, analysis) : undefined
  return finding(code, {
    subject: bindingSubject(binding),
    summary: verdict.message,
    ...(fix === undefined ? {} : { fix }),
  })
}

/** What helps where it is we who could not read something, rather than the operator. */
function fixOfUnread(why: UnknownReason, { snapshot }: Analysis): string | undefined {
  if (why.what === VARIANT_LABEL_KEY_FLAG)
    return `Pass ${VARIANT_LABEL_KEY_FLAG} with the key that the operator is set to; without the flag that is ${DEFAULT_VARIANT_LABEL_KEY}.`
  if (why.cause === 'more than --bindings-per-namespace')
    return 'Delete bindings of the namespace, or start the operator with a higher --bindings-per-namespace.'
  if (why.verb === 'read' && why.cause === 'not given')
    return 'Give what its controller makes as well (kubectl get -o yaml), or ask the cluster.'
  if (why.verb === 'read')
    return 'Correct what could not be read, and ask again: it may hold what is missing here.'
  return [...snapshot.rest.gaps.values()].includes(why)
    ? "Ask with an account that may read it. The operator may have read it: its verdict is in the binding's status."
    : undefined
}

function poolShadowed({ binding, judgement }: RuleInput): Finding | undefined {
  const { pool } = judgement.compiled.input
  if (pool?.state !== 'found' || pool.shadowed === undefined) return undefined
  const { group, meta } = pool.shadowed
  return finding('KLM110', {
    subject: bindingSubject(binding),
    related: [
      { kind: qualifiedKind({ kind: POOL_KIND, group }), namespace: meta.namespace, name: meta.name },
    ],
    summary: `InferencePool ${meta.name} of ${group} has the same name and selects other pods`,
  })
}

function legacyObjective({ binding, judgement, llmD }: RuleInput): Finding | undefined {
  const { objective } = judgement.compiled.input
  if (objective?.state !== 'found') return undefined
  const group: ObjectiveGroup = objective.objective.group
  if (group === LLM_D_GROUP || !llmD) return undefined
  const { namespace, name } = objective.objective.meta
  return finding('KLM111', {
    subject: bindingSubject(binding),
    related: [{ kind: qualifiedKind({ kind: OBJECTIVE_KIND, group }), namespace, name }],
    summary: `InferenceObjective ${name} is of ${group}, and ${LLM_D_GROUP} is served here`,
  })
}

function classIgnored({ analysis, binding, judgement }: RuleInput): Finding | undefined {
  if (judgement.state !== 'ready') return undefined
  const source = { kind: 'ClusterSPIFFEID', name: judgement.resolved.output.metadata.name } as const
  const handling = analysis.settled.prediction().objects.get(sourceText(source))?.handling
  if (handling?.state !== 'ignored') return undefined
  const summary = `SCM ignores the output: ${handling.why}`
  return ignoredBy(analysis.settings, { subject: bindingSubject(binding), summary })
}

function namespaceIgnored({ analysis, binding, judgement, namespaces }: RuleInput): Finding | undefined {
  if (judgement.state !== 'ready') return undefined
  const summary = namespaces.whyNoEntries(binding.meta.namespace)
  if (summary === undefined) return undefined
  return finding(analysis.settings.assumed.includes('ignoreNamespaces') ? 'KLM410' : 'KLM409', {
    subject: bindingSubject(binding),
    summary,
    evidence: [`SCM's settings: ${analysis.settings.source}`],
  })
}
