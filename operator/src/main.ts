#!/usr/bin/env node
// kleym-operator: the one place where the operator meets its process. Arguments, environment, streams, signals and the
// exit code are taken here and handed on; nothing else touches them.
import process from 'node:process'
import { ClusterConfigError } from '@kleym/shared/kube/cluster.ts'
import { systemClock } from '@kleym/shared/kube/clock.ts'
import { check } from './check/check.ts'
import { CertificateError } from './server/certificate.ts'
import { ListenError } from './server/http.ts'
import { jsonLog } from './telemetry/log.ts'
import { OperatorEnded, runOperator } from './run.ts'
import { parseSettings, type Settings } from './settings/settings.ts'
import { VERSION } from './settings/version.ts'

const parsed = parseSettings(process.argv.slice(2), process.env)
switch (parsed.kind) {
  case 'help':
    process.stdout.write(parsed.text)
    break
  case 'version':
    process.stdout.write(`kleym-operator ${VERSION}\n`)
    break
  case 'error':
    process.stderr.write(`error: ${parsed.message}\n`)
    process.exitCode = 1
    break
  case 'check':
    process.exitCode = await checked(parsed.settings)
    break
  case 'run':
    // The exit is forced: an open connection or timer must not keep a process alive that does not lead any more.
    process.exit(await run(parsed.settings))
}

async function run(settings: Settings): Promise<number> {
  const log = jsonLog({ level: settings.logLevel, clock: systemClock, stream: process.stdout })
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  const bug = (error: unknown): never => {
    log.error('a bug of kleym; the process ends', { error })
    process.exit(1)
  }
  process.on('uncaughtException', bug)
  process.on('unhandledRejection', bug)
  try {
    await runOperator(settings, {
      env: process.env,
      clock: systemClock,
      random: Math.random,
      log,
      stop: stop.signal,
    })
    log.info('stopped')
    return 0
  } catch (error) {
    if (isExpected(error)) process.stderr.write(`error: ${error.message}\n`)
    else log.error('a bug of kleym; the process ends', { error })
    return 1
  }
}

async function checked(settings: Settings): Promise<number> {
  // The reader of the output has gone: no result can be reported any more, so the check has not passed.
  process.stdout.once('error', () => process.exit(1))
  try {
    const sound = await check(settings, { env: process.env, clock: systemClock, output: process.stdout })
    return sound ? 0 : 1
  } catch (error) {
    if (!isExpected(error)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    return 1
  }
}

/** What a person can put right; anything else is a bug. */
function isExpected(error: unknown): error is Error {
  return (
    error instanceof OperatorEnded ||
    error instanceof ClusterConfigError ||
    error instanceof CertificateError ||
    error instanceof ListenError
  )
}
