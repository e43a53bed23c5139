// What SCM and the SPIRE server make of the fields that ClusterSPIFFEIDs and ClusterStaticEntries have in common: class,
// TTLs, hint and federation (docs/spire-facts.md §2, §11.7, §11.9, §11.15).
import { parseGoDuration, wireSeconds } from '../../base/go/duration.ts'
import { CLASS_PLACEHOLDER, type ScmSettings } from '../../model/objects/scm-settings.ts'
import { byteLength } from '../../base/text/bytes.ts'
import { sourceText, type EntrySource, type ObjectHandling } from './prediction.ts'
import { parseFederatedTrustDomain } from '../../model/spiffe-id.ts'

/** Whether SCM certainly handles objects of a class. */
export function isClassHandled(className: string, { className: own, watchClassless }: ScmSettings): boolean {
  return className === own || (className === '' && watchClassless)
}

/** What is known of an object whose manifest the API server refuses: whatever was there before stays. */
export function refusedHandling(
  refusal: string | undefined,
  source: EntrySource,
): ObjectHandling | undefined {
  if (refusal === undefined) return undefined
  const why = `the API server refuses ${sourceText(source)} (${refusal}), so what was there before stays`
  return { state: 'unknown', why }
}

/** How SCM handles an object by its class. */
export function classHandling(className: string, settings: ScmSettings, source: EntrySource): ObjectHandling {
  const own = settings.className
  if (mayMiss(source, settings)) {
    const which = className === '' ? 'has no class' : `is of class ${className}`
    return {
      state: 'unknown',
      why: `${sourceText(source)} ${which}, and whether SCM handles it is not known`,
    }
  }
  if (isClassHandled(className, settings)) return { state: 'handled' }
  if (className === '') {
    if (own === undefined && !settings.assumed.includes('className')) {
      return {
        state: 'unknown',
        why: `${sourceText(source)} has no .spec.className, and SCM's class is not known`,
      }
    }
    const isNamed = own !== undefined && own !== CLASS_PLACEHOLDER
    const which = isNamed ? `class ${own}` : 'objects of its own class'
    return {
      state: 'ignored',
      why: `${sourceText(source)} has no .spec.className, and SCM handles only ${which}`,
    }
  }
  const has = `.spec.className of ${sourceText(source)} is ${className}`
  if (own === undefined) return { state: 'unknown', why: `${has}, and SCM's class is not known` }
  return {
    state: 'ignored',
    why: own === '' ? `${has}, and SCM has no class` : `${has}, and SCM's is ${own}`,
  }
}

/** Whether it is not known that SCM handles an object, whatever its class is. */
export function mayMiss({ kind, name }: EntrySource, { sureOfOnly }: ScmSettings): boolean {
  return sureOfOnly !== undefined && !(kind === 'ClusterSPIFFEID' && sureOfOnly.has(name))
}

/** Why Go cannot decode a duration field; undefined where it can, or where there is none. */
export function durationFault(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const parsed = parseGoDuration(text)
  return parsed.ok ? undefined : `${field} ${parsed.message}`
}

const HINT_BYTES = 1024

/** The seconds of a TTL that reach the server; 0 where there is no duration, or none that Go can read. */
export function ttlSeconds(text: string | undefined): number {
  const parsed = text === undefined ? undefined : parseGoDuration(text)
  return parsed?.ok === true ? wireSeconds(parsed.nanoseconds) : 0
}

/** Why the server refuses a TTL; undefined where it accepts it. */
export function ttlRefusal(field: string, seconds: number, source: EntrySource): string | undefined {
  return seconds < 0 ? `${field} of ${sourceText(source)} reaches the server as ${seconds} s` : undefined
}

/** Why the server refuses a hint; undefined where it accepts it. */
export function hintRefusal(hint: string, source: EntrySource): string | undefined {
  const bytes = byteLength(hint)
  if (bytes <= HINT_BYTES) return undefined
  return `.spec.hint of ${sourceText(source)} has ${bytes} bytes, and the server takes ${HINT_BYTES}`
}

/** The trust domains of `federatesWith`, as SCM sends them. */
export function federatedWith(items: readonly string[]): readonly string[] {
  return items.flatMap((item) => {
    const parsed = parseFederatedTrustDomain(item)
    return parsed.ok ? [parsed.trustDomain] : []
  })
}

/** Which bundles the server must hold to accept an entry; undefined where it needs none but its own trust domain's. */
export function bundleNeeded(
  federatesWith: readonly string[],
  settings: ScmSettings,
  source: EntrySource,
): string | undefined {
  const { serverBundles, trustDomain } = settings
  // Where SCM's own trust domain is not known, any of them may be it.
  if (serverBundles !== undefined && trustDomain !== undefined) return undefined
  const foreign = foreignDomains(federatesWith, settings).filter((name) => serverBundles?.has(name) !== true)
  if (foreign.length === 0) return undefined
  const names = foreign.join(', ')
  return `the SPIRE server takes it only if it holds a bundle of ${names} (.spec.federatesWith of ${sourceText(source)})`
}

/** Why the server refuses an entry because a bundle is missing; undefined where it has all of them, or they are not known. */
export function bundleRefusal(
  federatesWith: readonly string[],
  settings: ScmSettings,
  source: EntrySource,
): string | undefined {
  const { serverBundles, trustDomain } = settings
  if (serverBundles === undefined || trustDomain === undefined) return undefined
  const lacking = foreignDomains(federatesWith, settings).filter((name) => !serverBundles.has(name))
  if (lacking.length === 0) return undefined
  return `the SPIRE server holds no bundle of ${lacking.join(', ')} (.spec.federatesWith of ${sourceText(source)})`
}

/** The trust domains of `federatesWith` beside SCM's own, each once. */
export function foreignDomains(
  federatesWith: readonly string[],
  { trustDomain }: Pick<ScmSettings, 'trustDomain'>,
): readonly string[] {
  return [...new Set(federatesWith.filter((name) => name !== trustDomain))]
}
