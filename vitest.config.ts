import { defineConfig } from 'vitest/config'

/** Suites mostly wait, so two on two cores are faster than one; many more, and bounded waits would run out. */
const CONTROL_PLANES_AT_A_TIME = 2

/**
 * The runner's bound is a net, which ends a test without a reason. Each wait within a test has a bound of its own, mostly of
 * a minute (test/testing/src/wait.ts), and says what it has waited for; this is longer than any of them, and than several of
 * them in a row on a machine that does other work too.
 */
const NET_MS = 600_000

const shared = { env: { NO_COLOR: '1' }, disableConsoleIntercept: true }

// Four groups, one after the other: what runs anywhere, what needs a real control plane, what needs SPIRE beside it, and what
// needs root and a cgroup for a real agent.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'anywhere',
          testTimeout: NET_MS,
          hookTimeout: NET_MS,
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
          testTimeout: NET_MS,
          hookTimeout: NET_MS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'svid',
          include: ['test/svid/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/svid/agent/**'],
          globalSetup: ['test/control-plane/setup.ts', 'test/svid/setup.ts'],
          // Each has an API server, a SPIRE server and an SCM that all work hard.
          maxWorkers: 1,
          testTimeout: NET_MS,
          hookTimeout: NET_MS,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: 'agent',
          include: ['test/svid/agent/**/*.test.ts'],
          globalSetup: ['test/control-plane/setup.ts', 'test/svid/setup.ts', 'test/svid/agent/setup.ts'],
          maxWorkers: 1,
          testTimeout: NET_MS,
          hookTimeout: NET_MS,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
