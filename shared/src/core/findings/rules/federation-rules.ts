// Registrations that federate: what the server lacks for them, what no object declares, and default identities that hang on others.
import { present } from '../../base/present.ts'
import type { Analysis } from '../../analysis/index.ts'
import { finding, type Finding } from '../finding/finding.ts'
import type { AskedRule } from '../finding/rule.ts'
import { type Subject } from '../../model/objects/subject.ts'
import { FEDERATED_TRUST_DOMAIN } from '../../model/kinds.ts'
import type { ClusterSpiffeIdSpec } from '../../model/objects/clusterspiffeid.ts'
import type { FederatedTrustDomain } from '../../model/objects/federated-trust-domain.ts'
import type { ClusterStaticEntrySpec } from '../../model/objects/static-entry.ts'
import {
  federatedWith,
  foreignDomains,
  isClassHandled,
  sourceText,
  type EntrySource,
} from '../../predict/index.ts'
import { counted } from '../../base/text/counted.ts'
import { sourceSubject } from './install-rules.ts'
import { findingsInWorlds } from './in-worlds.ts'

/** What is known of a relationship with a trust domain. */
type Relationship =
  | { readonly state: 'declared' | 'ignored'; readonly by: FederatedTrustDomain }
  | { readonly state: 'undeclared' | 'unknown' }

/** A registration that federates with others. */
interface Federating {
  readonly source: EntrySource
  readonly spec: ClusterSpiffeIdSpec | ClusterStaticEntrySpec
  readonly foreign: readonly string[]
}

/** What is found about federation. */
export const federationRule = {
  codes: ['KLM811', 'KLM812', 'KLM813'],
  find: federationFindings,
} as const satisfies AskedRule

/** The findings about federation; none where SCM's own trust domain is not known, since any of them may be it. */
function federationFindings(analysis: Analysis): readonly Finding[] {
  return findingsInWorlds(analysis, inOneWorld)
}

function inOneWorld(analysis: Analysis): readonly Finding[] {
  const { settings } = analysis
  if (settings.trustDomain === undefined) return []
  const relationshipWith = relationshipsOf(analysis)
  return federatingIn(analysis).flatMap((one) =>
    present(
      lackingBundles(one, settings.serverBundles, relationshipWith),
      undeclared(one, settings.serverBundles, relationshipWith),
      hangingDefaults(one),
    ),
  )
}

function federatingIn({ snapshot, settings, now }: Analysis): readonly Federating[] {
  const { objects } = now.prediction()
  return [
    ...snapshot.clusterSpiffeIds.read.map((object) => ({ kind: 'ClusterSPIFFEID' as const, object })),
    ...snapshot.staticEntries.read.map((object) => ({ kind: 'ClusterStaticEntry' as const, object })),
  ].flatMap(({ kind, object: { meta, spec } }) => {
    const source = { kind, name: meta.name }
    const foreign = foreignDomains(federatedWith(spec.federatesWith), settings)
    const isHandled = objects.get(sourceText(source))?.handling.state === 'handled'
    return isHandled && foreign.length > 0 ? [{ source, spec, foreign }] : []
  })
}

/** What is known of the relationship with each trust domain. */
export function relationshipsOf({ snapshot, settings }: Analysis): (trustDomain: string) => Relationship {
  const declared = snapshot.federatedTrustDomains
  return (trustDomain) => {
    const all = declared.read.filter((one) => one.trustDomain === trustDomain)
    const handled = all.find(({ className }) => isClassHandled(className, settings))
    if (handled !== undefined) return { state: 'declared', by: handled }
    if (declared.more() !== undefined) return { state: 'unknown' }
    const [ignored] = all
    return ignored === undefined ? { state: 'undeclared' } : { state: 'ignored', by: ignored }
  }
}

function lackingBundles(
  { source, foreign }: Federating,
  bundles: ReadonlySet<string> | undefined,
  relationshipWith: (trustDomain: string) => Relationship,
): Finding | undefined {
  const lacking = bundles === undefined ? [] : foreign.filter((name) => !bundles.has(name))
  if (lacking.length === 0) return undefined
  const relationships = lacking.map((name) => ({ name, ...relationshipWith(name) }))
  const areDeclared = relationships.every(({ state }) => state === 'declared')
  return finding('KLM811', {
    subject: sourceSubject(source),
    related: relationships.flatMap((one) => ('by' in one ? relationshipSubject(one.by) : [])),
    summary: `the SPIRE server holds no bundle of ${lacking.join(', ')}, and refuses every entry of it`,
    evidence: [
      `.spec.federatesWith: ${foreign.join(', ')}`,
      ...relationships.map((one) => relationshipText(one.name, one)),
    ],
    ...(areDeclared && {
      fix: 'Find out why the bundle does not arrive: the endpoint that the ClusterFederatedTrustDomain names, and the logs of SCM and of the SPIRE server.',
    }),
  })
}

function undeclared(
  { source, foreign }: Federating,
  bundles: ReadonlySet<string> | undefined,
  relationshipWith: (trustDomain: string) => Relationship,
): Finding | undefined {
  const names = foreign.filter((name) => {
    const { state } = relationshipWith(name)
    return (state === 'undeclared' || state === 'ignored') && bundles?.has(name) !== false
  })
  if (names.length === 0) return undefined
  return finding('KLM813', {
    subject: sourceSubject(source),
    summary: `it federates with ${names.join(', ')}, and no object that SCM handles declares the relationship`,
    evidence: [
      ...names.map((name) => relationshipText(name, relationshipWith(name))),
      bundles === undefined
        ? '--bundles shows whether the server holds the bundle'
        : 'the server holds the bundle: another client brought it',
    ],
  })
}

function relationshipText(name: string, one: Relationship): string {
  switch (one.state) {
    case 'declared':
      return `ClusterFederatedTrustDomain/${one.by.meta.name} declares ${name}, and its bundle has not come`
    case 'ignored':
      return `ClusterFederatedTrustDomain/${one.by.meta.name} declares ${name}, and SCM does not handle its class`
    case 'undeclared':
      return `no ClusterFederatedTrustDomain declares ${name}`
    case 'unknown':
      return `whether a ClusterFederatedTrustDomain declares ${name} is not known`
  }
}

function relationshipSubject({ meta }: FederatedTrustDomain): Subject {
  return { kind: FEDERATED_TRUST_DOMAIN.kind, namespace: '', name: meta.name }
}

function hangingDefaults({ source, spec, foreign }: Federating): Finding | undefined {
  if (!isDefault(spec)) return undefined
  return finding('KLM812', {
    subject: sourceSubject(source),
    summary: `this default identity depends on ${counted(foreign.length, 'bundle')} of others: ${foreign.join(', ')}`,
  })
}

/** Whether a registration is for whatever pod there is. */
function isDefault(spec: ClusterSpiffeIdSpec | ClusterStaticEntrySpec): boolean {
  if (!('fallback' in spec)) return false
  const { podSelector } = spec
  const isEmpty =
    podSelector === undefined ||
    (podSelector.matchLabels.size === 0 && podSelector.matchExpressions.length === 0)
  return spec.fallback || isEmpty
}
