// Finds the SPIRE Controller Manager's configuration (ControllerManagerConfig) in a file or among the objects: raw, or
// under any key of a ConfigMap, as the SPIRE charts install it. It is found here and judged in the core.
import { SCM_CONFIG_KIND } from '@kleym/shared/core/model/subject-groups.ts'
import { OPENSHIFT_CLASS, openshiftScmConfig, type ScmConfigText } from '@kleym/shared/core/analysis/index.ts'
import { kindOf, OPENSHIFT_SCM, qualifiedKind, kindKey } from '@kleym/shared/core/model/kinds.ts'
import { SPIRE_GROUP } from '@kleym/shared/core/model/names.ts'
import { namespacedName } from '@kleym/shared/core/model/namespaced-name.ts'
import { resolve } from 'node:path'
import { isRecord, own, stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { readMeta } from '@kleym/shared/core/model/objects/meta.ts'
import type { RawObject } from '@kleym/shared/core/model/objects/raw.ts'
import { KleymError } from '../io/errors.ts'
import { readBounded } from './files.ts'
import { configMapTexts, parse } from './load.ts'

/**
 * The one configuration that a file holds, such as that of `--scm-config`; throws a KleymError when there is none, or several.
 * `where` is how the error names the file.
 */
export async function readScmConfigFile(
  file: string,
  cwd: string,
  where = `--scm-config ${file}`,
): Promise<ScmConfigText> {
  const fail = (why: string, fix: string): KleymError =>
    new KleymError('usage', { what: 'cannot read the SCM configuration', where, why, fix })
  const bytes = await readBounded({ name: file, path: resolve(cwd, file) })
  if (!(bytes instanceof Uint8Array)) throw fail(bytes.why, 'correct the path')
  const { documents, faults } = await parse(file, bytes)
  const found: ScmConfigText[] = []
  for (const { value, document, line } of documents) {
    if (isScmConfig(value)) found.push({ config: value, source: file })
    else if (isRecord(value))
      found.push(...(await scmConfigsIn([{ value, origin: { file, document, line } }])))
  }
  const [only, another] = found
  if (another !== undefined)
    throw fail(`it holds ${found.length} of them`, 'give a file that holds only the one that is in use')
  if (only !== undefined) return only
  const [fault] = faults
  if (fault !== undefined) throw fail(`${fault.why} (line ${fault.line ?? 1})`, fault.fix)
  throw fail(
    `it holds no ${SCM_CONFIG_KIND} of spire.spiffe.io/v1alpha1, neither as it is nor in a ConfigMap`,
    'get it with: kubectl -n NAMESPACE get configmap NAME -o yaml',
  )
}

/**
 * The configurations among some objects, in their order: those in ConfigMaps, those that are documents of their own, and
 * OpenShift's, unless a ConfigMap has it. What does not parse is none.
 */
export async function scmConfigsIn(objects: readonly RawObject[]): Promise<readonly ScmConfigText[]> {
  const found: ScmConfigText[] = [...(await configMapsIn(objects))]
  for (const { value, origin } of objects)
    if (isScmConfig(value)) found.push({ config: value, source: `${SCM_CONFIG_KIND}${placeOf(origin)}` })
  if (found.some(({ config }) => own(config, 'className') === OPENSHIFT_CLASS)) return found
  for (const { value, origin } of objects) {
    if (kindKey(value) !== qualifiedKind(OPENSHIFT_SCM)) continue
    const source = `${OPENSHIFT_SCM.kind} ${readMeta(value).name}${placeOf(origin)}`
    found.push({ config: openshiftScmConfig(value), source })
  }
  return found
}

async function configMapsIn(objects: readonly RawObject[]): Promise<readonly ScmConfigText[]> {
  const found: ScmConfigText[] = []
  for (const object of objects) {
    if (stringAt(object.value, 'kind') !== 'ConfigMap' || stringAt(object.value, 'apiVersion') !== 'v1')
      continue
    for (const [key, text] of configMapTexts(object)) {
      // Nearly all ConfigMaps hold something else; the word is cheaper to look for than the text is to parse.
      if (!text.includes(SCM_CONFIG_KIND)) continue
      const { documents } = await parse(key, new TextEncoder().encode(text))
      for (const { value } of documents) {
        if (!isScmConfig(value)) continue
        const { namespace, name } = readMeta(object.value)
        found.push({ config: value, source: configMapSource(object), at: { namespace, name, key } })
      }
    }
  }
  return found
}

function isScmConfig(value: unknown): value is JsonRecord {
  const { kind, group } = kindOf(value)
  return kind === SCM_CONFIG_KIND && group === SPIRE_GROUP
}

function configMapSource({ value, origin }: RawObject): string {
  const { namespace, name } = readMeta(value)
  const path = namespace === '' ? name : namespacedName(namespace, name)
  return `ConfigMap ${path}${placeOf(origin)}`
}

function placeOf(origin: RawObject['origin']): string {
  return origin === undefined ? '' : ` (${origin.file}:${origin.line})`
}
