import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/gate/longest-first.ts'
import { runsMs } from './test/testing/src/runs.ts'

/** vitest would leave one core alone, which is half of a small machine. */
const ALL_CORES = availableParallelism()

/**
 * A suite on a control plane waits for half of its time, and one of whole programs for none: two for each core keep both busy.
 * With many more, bounded waits would run out; and each takes up to a gigabyte of memory.
 */
const AT_A_TIME = Math.min(2 * ALL_CORES, 8)

/**
 * The runner's bound is a net, which ends a test without a reason. Each wait within a test has a bound of its own, mostly of
 * a minute (test/testing/src/wait.ts), and says what it has waited for; this is longer than any of them, and than several of
 * them in a row on a machine that does other work too. No test has one of its own.
 */
const NET_MS = runsMs(300_000)

const shared = {
  env: { NO_COLOR: '1' },
  disableConsoleIntercept: true,
  testTimeout: NET_MS,
  hookTimeout: NET_MS,
}
/** What the projects of the second group have in common. */
const sideBySide = { maxWorkers: AT_A_TIME, sequence: { groupOrder: 1 } }

/** What needs Node and the project's packages alone: `npm test` runs it. A new folder of tests that needs no more goes here. */
const ANYWHERE = ['{shared,operator,plugin}/test', 'test/{chart,docs,house,testing}']
/** What needs executables, a browser, the site or a terminal. */
const PROGRAMS = ['test/{browser,e2e,release,soak,terminal}']

// Two groups, one after the other: what needs Node alone, and four projects that run side by side: whole programs, the control plane
// alone, SPIRE beside it, and a real agent, which needs root and a cgroup.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'anywhere',
          include: testsIn(ANYWHERE),
          setupFiles: ['test/testing/src/seed-setup.ts'],
          maxWorkers: ALL_CORES,
          // The files of one worker share what they import, which is half of the work.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'programs',
          include: testsIn(PROGRAMS),
          ...sideBySide,
        },
      },
      {
        test: {
          ...shared,
          name: 'control-plane',
          include: ['test/control-plane/*.test.ts'],
          globalSetup: ['test/control-plane/setup.ts'],
          ...sideBySide,
        },
      },
      {
        // `npm run test:versions` alone runs it.
        test: {
          ...shared,
          name: 'makers',
          include: ['test/control-plane/makers/*.test.ts'],
          globalSetup: ['test/control-plane/setup.ts'],
          ...sideBySide,
        },
      },
      {
        test: {
          ...shared,
          name: 'svid',
          include: ['test/svid/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/svid/agent/**'],
          globalSetup: ['test/control-plane/setup.ts', 'test/svid/setup.ts'],
          ...sideBySide,
        },
      },
      {
        test: {
          ...shared,
          name: 'agent',
          include: ['test/svid/agent/**/*.test.ts'],
          globalSetup: ['test/control-plane/setup.ts', 'test/svid/setup.ts', 'test/svid/agent/setup.ts'],
          ...sideBySide,
        },
      },
    ],
  },
})

function testsIn(folders: readonly string[]): string[] {
  return folders.map((folder) => `${folder}/**/*.test.ts`)
}
