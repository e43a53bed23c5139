// How an operator signs the Lease.
import { randomUUID } from 'node:crypto'

const SIGNATURE = /^([\w.-]{1,253})_[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** Names this process of a pod (or of a host), and no other, not even an earlier one there. */
export function newSignature(instance: string): string {
  return `${instance}_${randomUUID()}`
}

/** The pod that signed; undefined where no operator of kleym's signs like that. */
export function signerOf(signature: string): string | undefined {
  return SIGNATURE.exec(signature)?.[1]
}
