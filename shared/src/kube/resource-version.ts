// Which of two resource versions is the later one. Since Kubernetes 1.35 they are officially decimal integers of any
// length that grow with every write of a resource type (KEP-5504, "Comparable Resource Version"); what an API server
// of another make sends instead cannot be compared.

/** No leading zero, so that the longer one is the greater one. */
const DECIMAL = /^(?:0|[1-9]\d*)$/

/**
 * Negative where `a` is the older one, positive where it is the newer one, 0 where they are the same; undefined where
 * the order is not known, because one is missing or no decimal integer (two equal texts are the same whatever they say).
 */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined
  if (a === b) return 0
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : 1
}

/** True where `a` is known to be newer than `b`; anything is newer than nothing. */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  if (b === undefined) return a !== undefined
  const order = compareVersions(a, b)
  return order !== undefined && order > 0
}

/** True where `a` is known to be no newer than `b`. */
export function isAtMost(a: string | undefined, b: string | undefined): boolean {
  const order = compareVersions(a, b)
  return order !== undefined && order <= 0
}
