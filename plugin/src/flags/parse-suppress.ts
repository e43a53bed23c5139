// `--suppress CODE=KIND/[NAMESPACE/]NAME` as it is written on a command line; an assertion of an identity test is named as
// findings name it.
import {
  type FlagSuppression,
  FINDING_CODES,
  findingCodeOf,
  findingEntry,
  type FindingCode,
} from '@kleym/shared/core/findings/index.ts'
import {
  REGISTRATION_ENTRY_KIND,
  SCM_CONFIG_KIND,
  SUBJECT_GROUPS,
} from '@kleym/shared/core/model/subject-groups.ts'
import { IDENTITY_TEST_GROUP, IDENTITY_TEST_KIND } from '@kleym/shared/core/model/names.ts'
import { didYouMean } from '@kleym/shared/core/base/text/suggest.ts'
import { KleymError } from '../io/errors.ts'
import {
  isClusterScoped,
  kindNamed,
  parseObjectName,
  withoutGroup,
  type ObjectName,
} from '../sources/kind-name.ts'

const EXAMPLE = 'KLM402=iib/team-a/chat'

/** The kinds that findings are about and no API server serves; they have no namespace. */
const UNSERVED = [SCM_CONFIG_KIND, REGISTRATION_ENTRY_KIND]

/** The object whose findings do not count. */
type Suppressed = Pick<FlagSuppression, 'kind' | 'namespace' | 'name'>

/** Parses one `--suppress`; throws a usage error that says what is wrong with it. */
export function parseSuppress(text: string): FlagSuppression {
  const equals = text.indexOf('=')
  if (equals < 0)
    throw wrong(text, 'it is not CODE=KIND/NAMESPACE/NAME', `write it like --suppress ${EXAMPLE}`)
  const code = parseCode(text.slice(0, equals), text)
  const object = parseObject(text.slice(equals + 1), text)
  return { code, ...object, text }
}

function parseCode(written: string, text: string): FindingCode {
  const code = findingCodeOf(written)
  if (code === undefined) {
    const fix =
      didYouMean(written, FINDING_CODES) ??
      'name one code, as findings show it: all are in docs/findings/README.md'
    throw wrong(text, `there is no finding code ${written === '' ? '(empty)' : written}`, fix)
  }
  if (findingEntry(code).isOfSuppressions === true)
    throw wrong(
      text,
      `${code} is about suppressions, and nothing suppresses it`,
      'correct the suppression it is about',
    )
  return code
}

function parseObject(written: string, text: string): Suppressed {
  const [type = '', ...path] = written.split('/')
  if (type === '*') {
    const any = objectOf('*', path)
    if (any !== undefined) return any
    throw wrong(
      text,
      'it is not CODE=KIND/NAMESPACE/NAME',
      'write */NAMESPACE/NAME, or */NAME for what has no namespace',
    )
  }
  const ofTest = assertionPattern(type, path.join('/'), text)
  if (ofTest !== undefined) return ofTest
  const ofOther = otherKind(type, path)
  if (ofOther !== undefined) return ofOther
  const { kind, namespace, name } = parseNamed(type, path, written)
  const isNamespaced = !UNSERVED.includes(kind) && !isClusterScoped(kind)
  if (!isNamespaced && namespace !== undefined)
    throw wrong(text, `kind ${kind} has no namespace`, `write ${type}/${name}`)
  if (isNamespaced && namespace === undefined)
    throw wrong(text, `kind ${kind} has a namespace`, `write ${type}/NAMESPACE/${name}, or ${type}/*/${name}`)
  return { kind, namespace: namespace ?? '', name }
}

/** An object of a kind that kleym does not read, as findings about the pods that it makes name it; undefined for another kind. */
function otherKind(type: string, path: readonly string[]): Suppressed | undefined {
  const kind = withoutGroup(type)
  const isAsFound = /^[A-Z][A-Za-z0-9]*$/.test(kind)
  const isOther = isAsFound && !UNSERVED.includes(kind) && kindNamed(kind) === undefined
  return isOther ? objectOf(kind, path) : undefined
}

/** The object of a kind that NAMESPACE/NAME or NAME means; undefined for any other path. */
function objectOf(kind: string, path: readonly string[]): Suppressed | undefined {
  if (path.length === 0 || path.length > 2 || path.includes('')) return undefined
  const [name = '', namespace = ''] = path.toReversed()
  return { kind, namespace, name }
}

/**
 * Assertions of an IdentityTest: `identitytest/TEST/containers[0]`, as findings and `-o name` show them, or all of a test by its
 * name. Undefined for another kind.
 */
function assertionPattern(type: string, name: string, text: string): Suppressed | undefined {
  const [word = '', ...group] = type.toLowerCase().split('.')
  const kind = IDENTITY_TEST_KIND.toLowerCase()
  if (word !== kind && word !== `${kind}s`) return undefined
  if (group.length > 0 && group.join('.') !== IDENTITY_TEST_GROUP)
    throw wrong(
      text,
      `${IDENTITY_TEST_KIND} is of no group ${group.join('.')}`,
      `write ${word}, or ${word}.${IDENTITY_TEST_GROUP}`,
    )
  const [test = '', assertion] = name.split('/')
  if (test === '' || assertion === '')
    throw wrong(
      text,
      'it names no assertion',
      `write ${type}/TEST for a whole test, or ${type}/TEST/containers[0]`,
    )
  return { kind: IDENTITY_TEST_KIND, namespace: '', name: assertion === undefined ? `${test}/*` : name }
}

function parseNamed(type: string, path: readonly string[], written: string): Omit<ObjectName, 'group'> {
  const [word = '', ...group] = type.split('.')
  const unserved = UNSERVED.find((kind) => kind.toLowerCase() === word.toLowerCase())
  const named =
    unserved === undefined
      ? parseObjectName(written, '--suppress')
      : { ...parseObjectName(['configmap', ...path].join('/'), '--suppress'), kind: unserved }
  const known = SUBJECT_GROUPS[named.kind]
  const given = group.join('.').toLowerCase()
  if (given !== '' && known !== undefined && !known.includes(given))
    throw wrong(
      written,
      `${named.kind} is of no group ${given}`,
      `write ${word}, or ${word}.${known[0] ?? ''}`,
    )
  return named
}

function wrong(where: string, why: string, fix: string): KleymError {
  return new KleymError('usage', {
    what: 'cannot tell what --suppress means',
    where,
    why,
    fix,
    docs: 'docs/reference/output.md',
  })
}
