// The certificates of the fault server, as PEM. See certificates/README.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'certificates')

/** The fixtures; README.md beside them says what each is. */
export type CertificateFile =
  | 'ca.crt'
  | 'other-ca.crt'
  | `${'server' | 'named-server' | 'client'}.${'crt' | 'key'}`

/** The path of a fixture. */
export function certificatePath(file: CertificateFile): string {
  return join(FOLDER, file)
}

/** A fixture as PEM. */
export function certificate(file: CertificateFile): string {
  return readFileSync(certificatePath(file), 'utf8')
}
