// SHA-256 (FIPS 180-4) where the core needs it: synchronous and portable, by @noble/hashes. The platform's synchronous
// digest lives in `node:crypto`, and the portable one is asynchronous.
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8 } from './bytes.ts'

/** The SHA-256 of the UTF-8 bytes of `text`, as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return sha256(utf8(text)).toHex()
}
