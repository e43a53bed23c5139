// `npm run test:svid`: the prediction against the real SPIRE controller manager, with more estates or another seed than
// `npm test` takes. See docs/contributing/spire.md.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..')

function main(): number {
  const { values, positionals } = parseArgs({
    options: { seed: { type: 'string' }, estates: { type: 'string' } },
    allowPositionals: true,
  })
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value)) continue
    process.stderr.write(`error: --${name} takes a whole number from 1 to 999999999, not ${value}\n`)
    return 2
  }
  const { status } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--project=svid', ...positionals],
    {
      cwd: ROOT,
      stdio: 'inherit',
      env: {
        ...process.env,
        ...(values.seed === undefined ? {} : { KLEYM_SVID_SEED: values.seed }),
        ...(values.estates === undefined ? {} : { KLEYM_SVID_ESTATES: values.estates }),
      },
    },
  )
  return status ?? 1
}

process.exitCode = main()
