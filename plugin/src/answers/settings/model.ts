// Each setting of an answer: its value, who says so, and what it decides.
import { CLASS_PLACEHOLDER } from '@kleym/shared/core/model/objects/scm-settings.ts'
import type { AnswerInput } from '../../gather/gather.ts'

/** One setting. */
export interface SettingRow {
  readonly setting: 'trustDomain' | 'className' | 'outputLabels' | 'variantLabelKey' | 'scmConfig'
  /** As a person calls it. */
  readonly name: string
  /** Undefined: it is not known. An empty text: none. */
  readonly value: string | undefined
  /** Undefined: no source says it, so the value is assumed. */
  readonly source: string | undefined
  readonly decides: string
  /** How to give it, if it is assumed or not known. */
  readonly fix: string
}

/** The settings of an answer, in the order of the settings file. */
export function settingRows({ operator, after, scmConfigs = [] }: AnswerInput): readonly SettingRow[] {
  const {
    trustDomain,
    className,
    outputLabels = new Map<string, string>(),
    variantLabelKey,
  } = operator.config
  const { settings } = after
  // Labels that nothing says are none, which is what they mostly are, unless SCM asks for some.
  const areLabelsOpen =
    operator.outputLabelsSource === undefined && settings.clusterSPIFFEIDLabelSelector.size > 0
  return [
    {
      setting: 'trustDomain',
      name: 'trust domain',
      value: trustDomain.kind === 'set' ? trustDomain.value : undefined,
      source: operator.trustDomainSource,
      decides: 'how every SPIFFE ID begins',
      fix: '--trust-domain',
    },
    {
      setting: 'className',
      name: 'class',
      value: className === CLASS_PLACEHOLDER ? undefined : className,
      source: operator.classNameSource,
      decides: "which SCM acts on kleym's ClusterSPIFFEIDs",
      fix: '--clusterspiffeid-class-name',
    },
    {
      setting: 'outputLabels',
      name: 'output labels',
      value: areLabelsOpen ? undefined : [...outputLabels].map(([key, value]) => `${key}=${value}`).join(','),
      source: operator.outputLabelsSource,
      decides: "whether an SCM that selects by labels sees kleym's ClusterSPIFFEIDs",
      fix: '--output-label',
    },
    {
      setting: 'variantLabelKey',
      name: 'variant label key',
      value: variantLabelKey,
      source: operator.variantLabelKeySource,
      decides: 'which pods of a pool are one variant',
      fix: '--variant-label-key',
    },
    {
      setting: 'scmConfig',
      name: "SCM's configuration",
      value: scmText(settings.className, settings.trustDomain),
      source: scmConfigs.length === 0 ? undefined : settings.source,
      decides: 'which ClusterSPIFFEIDs and namespaces SCM handles, and what it makes of them',
      fix: '--scm-config',
    },
  ]
}

function scmText(className: string | undefined, trustDomain: string | undefined): string {
  const known = className === undefined || className === CLASS_PLACEHOLDER ? undefined : className
  return [
    known === undefined ? 'class not known' : known === '' ? 'no class' : `class ${known}`,
    trustDomain === undefined ? 'trust domain not known' : `trust domain ${trustDomain}`,
  ].join(', ')
}
