// Reads a zip archive as Go's module proxies write them, by fflate.
import { unzipSync } from 'fflate'

/** The files of an archive by name, folders left out. Throws a `TypeError` on anything that is no such archive. */
export function unzip(archive: Buffer): ReadonlyMap<string, Uint8Array> {
  try {
    return new Map(Object.entries(unzipSync(archive)).filter(([name]) => !name.endsWith('/')))
  } catch (error) {
    throw new TypeError('not a zip archive', { cause: error })
  }
}
