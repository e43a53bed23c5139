// Findings about an installation as `status` sees it: kinds that are missing, operators that are none or too many, a
// class that SCM ignores, objects that look like outputs and are not.
import { present } from '../../base/present.ts'
import {
  type Analysis,
  whyOperatorDown,
  type OperatorDeployment,
  outputHandling,
} from '../../analysis/index.ts'
import { POOL_KINDS, qualifiedKind, BINDING, CLUSTER_SPIFFE_ID } from '../../model/kinds.ts'
import { finding, type Finding } from '../finding/finding.ts'
import type { AskedRule } from '../finding/rule.ts'
import { isOutputName } from '../../decide/index.ts'
import { CLUSTER_SPIFFE_ID_KIND, LABEL_MANAGED_BY, MANAGED_BY } from '../../model/names.ts'
import { OPERATOR_SUBJECT, SCM_SUBJECT, trustDomainFindings, ignoredBy } from './install-rules.ts'
import { counted } from '../../base/text/counted.ts'

/** What `status` knows of an installation. */
export interface InstallationFacts {
  /** Qualified kinds that are certainly not served. */
  readonly absentKinds: ReadonlySet<string>
  /** Whether a flag, a Deployment or a status says which class kleym gives to its outputs. */
  readonly isClassKnown: boolean
  /** Undefined where Deployments could not be looked for. */
  readonly operators: readonly OperatorDeployment[] | undefined
}

/** What is found of an installation as a whole. */
export const installationRule = {
  codes: ['KLM401', 'KLM410', 'KLM411', 'KLM522', 'KLM543', 'KLM544', 'KLM545'],
  find: installationFindings,
} as const satisfies AskedRule

/** The findings of an installation; those of settings and of SCM's own objects are `installFindings`. */
function installationFindings(analysis: Analysis, facts: InstallationFacts): readonly Finding[] {
  const isAnyBinding = analysis.snapshot.bindings.isAnyRead
  return [
    ...missingKinds(facts),
    ...present(operators(facts)),
    ...(facts.isClassKnown ? classes(analysis) : []),
    ...lookAlikes(analysis),
    // With bindings, it is among the findings about them.
    ...(isAnyBinding ? [] : trustDomainFindings(analysis)),
  ]
}

function missingKinds({ absentKinds }: InstallationFacts): readonly Finding[] {
  const pools = POOL_KINDS.map(qualifiedKind)
  const needed = [qualifiedKind(BINDING), qualifiedKind(CLUSTER_SPIFFE_ID)]
  const missing = needed.filter((kind) => absentKinds.has(kind))
  if (pools.every((kind) => absentKinds.has(kind))) missing.push(...pools.slice(0, 1))
  return missing.map((kind) =>
    finding('KLM544', {
      subject: { kind: 'CustomResourceDefinition', namespace: '', name: kind },
      summary: `the API server does not serve ${kind}`,
    }),
  )
}

function operators({ operators: found }: InstallationFacts): Finding | undefined {
  if (found === undefined) return undefined
  const [first, ...others] = found
  if (first !== undefined && others.length > 0)
    return finding('KLM545', {
      subject: first.subject,
      related: others.map((one) => one.subject),
      summary: `there are ${counted(found.length, 'operator')} in this cluster`,
    })
  const summary = whyOperatorDown(found, true)
  return summary === undefined
    ? undefined
    : finding('KLM543', { subject: first?.subject ?? OPERATOR_SUBJECT, summary })
}

function classes({ config, settings }: Analysis): readonly Finding[] {
  const handling = outputHandling(config, settings)
  if (handling.state !== 'ignored') return []
  const summary = `SCM ignores every output of kleym: ${handling.why}`
  return [ignoredBy(settings, { subject: SCM_SUBJECT, summary })]
}

/** Foreign objects that look like kleym's: one with such a name claims what it says until a person deletes it. */
function lookAlikes({ now }: Analysis): readonly Finding[] {
  return now.outputs.flatMap(({ object: { meta, spec }, ownership }) => {
    const isNamed = isOutputName(meta.name)
    if (ownership.kind !== 'foreign') return []
    if (!isNamed && meta.labels.get(LABEL_MANAGED_BY) !== MANAGED_BY) return []
    return finding('KLM522', {
      subject: { kind: CLUSTER_SPIFFE_ID_KIND, namespace: '', name: meta.name },
      summary: `it looks like an output of kleym: ${ownership.why}`,
      evidence: [
        `it registers ${spec.spiffeIDTemplate}`,
        ...(isNamed ? ['its name has the shape of those that kleym gives, so it claims what it says'] : []),
      ],
      fix: `If nothing else needs it: kubectl delete clusterspiffeid ${meta.name}`,
    })
  })
}
