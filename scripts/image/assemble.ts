// `node scripts/image/assemble.ts DIR`, after `npm run build`: leaves the root file system of the image in DIR. The
// Dockerfile's last stage is that folder; SOURCE_DATE_EPOCH is the time of its files.
import { join } from 'node:path'
import process from 'node:process'
import { BuildError } from '../build/build-error.ts'
import { rootFs, writeRootFs } from './root-fs.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('error: no folder\n  fix:  node scripts/image/assemble.ts DIR\n')
  process.exitCode = 2
} else {
  try {
    const made = Number(process.env['SOURCE_DATE_EPOCH'] ?? '0')
    writeRootFs(rootFs(join(import.meta.dirname, '../..'), made).files, folder, made)
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    process.stderr.write(`error: ${error.message}\n  why:  ${error.why}\n  fix:  ${error.fix}\n`)
    process.exitCode = 1
  }
}
