// The certificate of /metrics: read at the start, and looked at from then on, because what issues certificates replaces
// the files in place.
import { createSecureContext } from 'node:tls'
import type { Clock } from '@kleym/shared/kube/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { TlsFiles } from '../settings/settings.ts'

/** How often the files are looked at, in milliseconds (controller-runtime's `certwatcher`: 10 s). */
export const CERTIFICATE_LOOK_MS = 10_000

/** PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** The files hold no certificate with its key: one line that says which, why and how to fix it. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

export interface CertificateOptions {
  readonly files: TlsFiles
  /** Reads a text file. */
  readonly readFile: (path: string) => Promise<string>
  readonly clock: Clock
  readonly log: Log
}

/** Reads the files. Rejects with a `CertificateError`. */
export async function readKeyPair({ files, readFile }: CertificateOptions): Promise<KeyPair> {
  const where = `--metrics-tls-cert-file=${files.certFile}, --metrics-tls-key-file=${files.keyFile}`
  try {
    const [cert, key] = await Promise.all([readFile(files.certFile), readFile(files.keyFile)])
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CertificateError(
      `${where}: cannot be used: ${why}; give a PEM certificate and the key that belongs to it`,
      { cause: error },
    )
  }
}

/**
 * Looks at the files every 10 s and tells a pair that is another and good; until there is one (files that are being
 * written, files that are gone) the last one stays. The result ends it.
 */
export function watchKeyPair(
  options: CertificateOptions,
  first: KeyPair,
  changed: (pair: KeyPair) => void,
): () => void {
  const { clock, log } = options
  let last = first
  let failing = false
  let ended = false
  let cancel: (() => void) | undefined
  const look = async (): Promise<void> => {
    try {
      const pair = await readKeyPair(options)
      failing = false
      if (!ended && pair.cert !== last.cert) {
        last = pair
        changed(pair)
        log.info('serving metrics with a new certificate')
      }
    } catch (error) {
      if (!failing) log.warn('the certificate of the metrics cannot be used; the last one stays', { error })
      failing = true
    }
    again()
  }
  const again = (): void => {
    if (!ended) cancel = clock.after(CERTIFICATE_LOOK_MS, () => void look())
  }
  again()
  return () => {
    ended = true
    cancel?.()
  }
}
