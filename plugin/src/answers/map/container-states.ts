// What may become of a container on the map, and how legends call it.

/** What becomes of a container, in the order in which legends and tables list it. */
export const CONTAINER_STATES = [
  'issued',
  'several',
  'pending',
  'undetermined',
  'refused',
  'failed',
  'displaced',
  'masked',
  'ignored',
  'dead',
  'none',
] as const
/** One of them. */
export type ContainerState = (typeof CONTAINER_STATES)[number]

/** The state in words, for a legend. */
export const STATE_TEXTS: Readonly<Record<ContainerState, string>> = {
  issued: 'one identity is issued',
  several: 'several identities are issued',
  pending: 'kleym must still write what gives it an identity',
  undetermined: 'it is not known whether it gets an identity',
  refused: 'the SPIRE server refuses the entry',
  failed: 'SCM cannot make the entry',
  displaced: 'its fallback gave way to another registration',
  masked: 'another object owns the same entry',
  ignored: 'SCM does not act on what selects it',
  dead: 'no selector of what selects its pod matches it',
  none: 'nothing selects its pod',
}
