// `.kleym.yaml`: the settings of a repository, written once. zod gives the type, the checks and the published JSON Schema
// (docs/settings.md, docs/reference/settings.schema.json).
import { lazy } from '@kleym/shared/core/base/lazy.ts'
import { readOutputLabels, variantLabelKeyProblem } from '@kleym/shared/core/decide/index.ts'
import { trustDomainProblem } from '@kleym/shared/core/model/spiffe-id.ts'
import * as z from 'zod/mini'

/** A refinement from a function that says why a value is wrong. */
function holds<T>(problemOf: (value: T) => string | undefined): z.core.CheckFn<T> {
  return (payload) => {
    const problem = problemOf(payload.value)
    if (problem !== undefined)
      payload.issues.push({ code: 'custom', message: problem, input: payload.value, path: [] })
  }
}

/** A label as `--output-label` takes it. */
function labelsProblem(labels: Readonly<Record<string, string>>): string | undefined {
  const read = readOutputLabels(Object.entries(labels).map(([key, value]) => `${key}=${value}`))
  return read.kind === 'labels' ? undefined : `has a label ${read.argument}: it ${read.why}`
}

const scmConfigSchema = lazy(() =>
  z.union(
    [
      z.string('must be a path').check(z.minLength(1, 'must not be empty')),
      z.record(z.string(), z.unknown(), 'must be a mapping'),
    ],
    'must be a path below this folder, or the configuration itself',
  ),
)

const settingsFields = lazy(() => ({
  trustDomain: z.optional(
    z
      .string('must be a string')
      .check(holds(trustDomainProblem), z.describe('The trust domain of the SPIFFE IDs (`--trust-domain`).')),
  ),
  className: z.optional(
    z
      .string('must be a string')
      .check(
        z.describe(
          'The class that the operator gives to its ClusterSPIFFEIDs (`--clusterspiffeid-class-name`); an empty one is none.',
        ),
      ),
  ),
  outputLabels: z.optional(
    z
      .record(
        z.string(),
        z.string('must be a string; put numbers and booleans in quotes'),
        'must be a mapping',
      )
      .check(
        holds(labelsProblem),
        z.describe('Labels that the operator gives to its ClusterSPIFFEIDs (`--output-label`).'),
      ),
  ),
  variantLabelKey: z.optional(
    z
      .string('must be a string')
      .check(
        holds(variantLabelKeyProblem),
        z.describe('The pod label that tells the variants of a pool apart (`--variant-label-key`).'),
      ),
  ),
  scmConfig: z
    .optional(
      z.union(
        [scmConfigSchema(), z.array(scmConfigSchema()).check(z.maxLength(SCM_CONFIGS_MAX))],
        'must be a path below this folder, the configuration itself, or a list of these',
      ),
    )
    .check(
      z.describe(
        'The configuration of the SPIRE Controller Manager (`--scm-config`): a file below the folder of this one, the configuration itself, or a list if several run.',
      ),
    ),
}))

/** More SCMs than a cluster runs. */
const SCM_CONFIGS_MAX = 16

/** A settings file. */
export const settingsSchema = lazy(() =>
  z
    .strictObject(
      {
        ...settingsFields(),
        contexts: z
          .optional(
            z.record(
              z.string(),
              z.strictObject(settingsFields(), 'must be a mapping of settings'),
              'must be a mapping from kube contexts to settings',
            ),
          )
          .check(
            z.describe(
              'Settings of single clusters, by the name of the kube context. They count before the others.',
            ),
          ),
      },
      'must be a mapping of settings',
    )
    .check(z.describe('The settings of kleym for a repository.')),
)

/** The settings of one section, as written. */
export type SettingsWritten = Omit<z.output<ReturnType<typeof settingsSchema>>, 'contexts'>

/** Their names. */
export const SETTING_NAMES = [
  'trustDomain',
  'className',
  'outputLabels',
  'variantLabelKey',
  'scmConfig',
] as const
