import { defineConfig } from 'vitest/config'

/** Suites mostly wait, so two on two cores are faster than one; many more, and bounded waits would run out. */
const CONTROL_PLANES_AT_A_TIME = 2

const shared = { env: { NO_COLOR: '1' }, disableConsoleIntercept: true }

// Three groups, one after the other: what runs anywhere, what needs a real control plane, and what needs SPIRE beside it.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'anywhere',
          // A bound for a machine that does other work too; no test here takes more than a few seconds.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          include: ['*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/control-plane/**', 'test/svid/**'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'control-plane',
          include: ['test/control-plane/**/*.test.ts'],
          globalSetup: ['test/control-plane/setup.ts'],
          maxWorkers: CONTROL_PLANES_AT_A_TIME,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'svid',
          include: ['test/svid/**/*.test.ts'],
          globalSetup: ['test/control-plane/setup.ts', 'test/svid/setup.ts'],
          // Each has an API server, a SPIRE server and an SCM that all work hard.
          maxWorkers: 1,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
