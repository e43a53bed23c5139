// Findings about the installation as a whole: settings that do not fit together, and objects that stop SCM altogether.
import { present } from '../../base/present.ts'
import { SCM_CONFIG_KIND } from '../../model/subject-groups.ts'
import type { Analysis, Contradiction } from '../../analysis/index.ts'
import { classLabelProblem } from '../../decide/index.ts'
import { CLUSTER_SPIFFE_ID_KIND, SCM_CLASS_LABEL } from '../../model/names.ts'
import { CLASS_PLACEHOLDER, type ScmSettings } from '../../model/objects/scm-settings.ts'
import { sourceText, type EntrySource, type ScmFault } from '../../predict/index.ts'
import { findingEntry, type FindingCode } from '../registry/findings.ts'
import { asFarAs, finding, type Finding, type Observation } from '../finding/finding.ts'
import { ruleAtOnce, type Rule } from '../finding/rule.ts'
import { type Subject } from '../../model/objects/subject.ts'
import { findingsInWorlds } from './in-worlds.ts'
import { appliesUnless } from './applies.ts'

/** A finding for each object that gives other settings of kleym than those in force. */
export function disagreements(contradictions: readonly Contradiction[]): readonly Finding[] {
  return contradictions.map(({ subject, evidence }) =>
    finding('KLM520', {
      subject,
      summary: 'its settings differ from those that this answer uses',
      evidence,
    }),
  )
}

/** SCM itself, as a subject. */
export const SCM_SUBJECT: Subject = {
  kind: SCM_CONFIG_KIND,
  namespace: '',
  name: 'spire-controller-manager',
}

/** That SCM ignores what kleym writes, which is certain if its settings were given. */
export function ignoredBy({ assumed, source }: ScmSettings, observed: Observation): Finding {
  const isAssumed = assumed.includes('className') || assumed.includes('watchClassless')
  return finding(isAssumed ? 'KLM410' : 'KLM401', { ...observed, evidence: [`SCM's settings: ${source}`] })
}

/** The operator as a subject, if no single Deployment is meant. */
export const OPERATOR_SUBJECT: Subject = { kind: 'Deployment', namespace: '', name: 'kleym' }

/** The object that a registration comes from, as a subject. */
export function sourceSubject(source: EntrySource): Subject {
  return { kind: source.kind, namespace: '', name: source.name }
}

/** Whether a finding concerns every registration, whatever its subject is. */
export function concernsEveryBinding({ code }: Finding): boolean {
  return findingEntry(code).concerns === 'every binding'
}

/**
 * The findings about settings and about objects that stop SCM. Of some bindings alone: none of an object that is
 * about itself.
 */
export function installFindings(analysis: Analysis, bindings?: ReadonlySet<string>): readonly Finding[] {
  return findingsInWorlds(analysis, (world) => inOneWorld(world, bindings))
}

/** What is found about settings, and about objects that stop SCM. */
export const installRule: Rule = ruleAtOnce(
  ['KLM406', 'KLM407', 'KLM408', 'KLM411', 'KLM414', 'KLM422', 'KLM521'],
  installFindings,
)

function inOneWorld(analysis: Analysis, bindings: ReadonlySet<string> | undefined): readonly Finding[] {
  // Without a binding nothing is rendered that SCM could refuse.
  const isAnyBinding = analysis.snapshot.bindings.isAnyRead
  const always = present(
    isAnyBinding && differentTrustDomains(analysis),
    classWithoutLabel(analysis),
    ...stoppers(analysis),
  )
  return bindings === undefined ? [...always, ...unparsable(analysis), ...orphans(analysis)] : always
}

/** The finding that kleym renders another trust domain than SCM serves. */
export function trustDomainFindings(analysis: Analysis): readonly Finding[] {
  return findingsInWorlds(analysis, (world) => present(differentTrustDomains(world)))
}

function differentTrustDomains({ config, settings }: Analysis): Finding | undefined {
  if (config.trustDomain.kind !== 'set' || settings.trustDomain === undefined) return undefined
  if (config.trustDomain.value === settings.trustDomain) return undefined
  return finding('KLM411', {
    subject: SCM_SUBJECT,
    summary: `kleym renders ${config.trustDomain.value}, SCM serves ${settings.trustDomain}`,
    evidence: [`SCM's settings: ${settings.source}`],
  })
}

function classWithoutLabel({ config: { className } }: Analysis): Finding | undefined {
  const problem = className === CLASS_PLACEHOLDER ? undefined : classLabelProblem(className)
  if (problem === undefined) return undefined
  return finding('KLM422', {
    subject: OPERATOR_SUBJECT,
    summary: `no output has the label ${SCM_CLASS_LABEL}, since class ${className} ${problem}`,
  })
}

const STOPPER_CODES: Readonly<Record<ScmFault['kind'], FindingCode>> = {
  undecodable: 'KLM406',
  'not UTF-8': 'KLM407',
  configuration: 'KLM414',
}

function stoppers(analysis: Analysis): readonly Finding[] {
  return analysis.settled
    .prediction()
    .scmFaults()
    .flatMap(({ source, kind, why, open }) => {
      const one = finding(STOPPER_CODES[kind], {
        subject: source === undefined ? SCM_SUBJECT : sourceSubject(source),
        summary: why,
      })
      const who = source === undefined ? "SCM's configuration" : sourceText(source)
      return asFarAs(appliesUnless(who, open), one)
    })
}

function unparsable(analysis: Analysis): readonly Finding[] {
  return [...analysis.settled.prediction().objects.values()].flatMap(({ source, handling }) =>
    handling.state === 'invalid'
      ? [
          finding('KLM408', {
            subject: sourceSubject(source),
            summary: handling.why,
          }),
        ]
      : [],
  )
}

function orphans(analysis: Analysis): readonly Finding[] {
  return analysis.now.outputs.flatMap(({ object, ownership }) =>
    ownership.kind === 'orphan'
      ? [
          finding('KLM521', {
            subject: { kind: CLUSTER_SPIFFE_ID_KIND, namespace: '', name: object.meta.name },
            summary: ownership.why,
            evidence: [`it registers ${object.spec.spiffeIDTemplate}`],
          }),
        ]
      : [],
  )
}
