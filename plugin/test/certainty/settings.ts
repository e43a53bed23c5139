// Settings that are given to a command or left out, and what completes those that were left out.
import { dig, listAt, stringAt } from '@kleym/shared/core/base/json.ts'
import { SETTINGS, type Setting, type Values } from './estates.ts'

/** The two configurations of SCM, by the file that holds them. */
export function settingsFiles(given: Values): Readonly<Record<string, string>> {
  return { 'scm.json': given.scm, 'beside.json': given['which scm'] }
}

/** The flags that give the settings which are not left out. */
export function flagsOf(given: Values, without: readonly Setting[]): readonly string[] {
  const isOne = !without.includes('which scm')
  // Both stand among the files wherever one of them does, but for the answers that are given none.
  const both = ['-f', 'scm.json', '-f', 'beside.json']
  const flags: Readonly<Record<Setting, readonly string[]>> = {
    'trust domain': ['--trust-domain', given['trust domain']],
    class: ['--clusterspiffeid-class-name', given.class],
    'variant label key': ['--variant-label-key', given['variant label key']],
    scm: isOne ? [...both, '--scm-config', 'scm.json'] : both,
    'which scm': [],
  }
  return SETTINGS.flatMap((setting) => (without.includes(setting) ? [] : flags[setting]))
}

/** The settings that were left out with other values; where it was which SCM is meant, it may be the other one. */
export function completedWith(given: Values, others: Values, without: readonly Setting[]): Values {
  const completed: Values = { ...given }
  for (const setting of without) Object.assign(completed, { [setting]: others[setting] })
  if (!without.includes('which scm') || without.includes('scm')) return completed
  const both = [given.scm, given['which scm']]
  // A class that is given tells which of them is meant, where it is one of theirs.
  const className = without.includes('class') ? undefined : given.class
  const handling = both.filter((scm) => handles(scm, className))
  // Where the class is none of theirs: one that handles no ClusterSPIFFEID at all is not the one that is meant beside one that does.
  const acting = handling.length > 0 ? handling : both.filter(handlesSome)
  const isOther = acting.length === 1 ? acting[0] === given['which scm'] : others.class === ''
  return {
    ...completed,
    scm: isOther ? given['which scm'] : given.scm,
    'which scm': isOther ? given.scm : given['which scm'],
  }
}

/** Whether SCM handles the outputs of kleym under these settings, and kleym's namespaces: the premise of what a change does. */
export function areOutputsHandled(given: Values): boolean {
  const config: unknown = JSON.parse(given.scm)
  return (
    handles(given.scm, given.class) &&
    stringAt(config, 'trustDomain') === given['trust domain'] &&
    dig(config, 'clusterSPIFFEIDLabelSelector') === undefined &&
    !listAt(config, 'ignoreNamespaces').some((pattern) => new RegExp(String(pattern)).test('team-a'))
  )
}

/** Whether what an answer may take for granted is so: SCM handles the outputs of kleym, and the namespace of all bindings. */
export function isPremiseTrue(given: Values): boolean {
  const ignored = listAt(JSON.parse(given.scm), 'ignoreNamespaces').map(String)
  return areOutputsHandled(given) && !ignored.some((pattern) => new RegExp(pattern).test('team-a'))
}

/** Whether an SCM handles ClusterSPIFFEIDs: with `reconcile` it handles the kinds that are named there, here never this one. */
function handlesSome(scm: string): boolean {
  return dig(JSON.parse(scm), 'reconcile') === undefined
}

/** Whether an SCM handles objects of a class, as the table of docs/spire-facts.md §2 has it. */
function handles(scm: string, className: string | undefined): boolean {
  const config: unknown = JSON.parse(scm)
  if (!handlesSome(scm)) return false
  const own = stringAt(config, 'className')
  if (className === undefined || own === className) return true
  // A classless object has no label to be filtered by.
  return (
    className === '' && dig(config, 'watchClassless') === true && dig(config, 'filterByClassName') !== true
  )
}
