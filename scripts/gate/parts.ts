// The parts of the gate, in their order: what each runs, and what a machine must have for it.
import process from 'node:process'
import { ensureBinaries, type NoBinaries } from '../../test/control-plane/binaries.ts'
import { ensureSpire } from '../../test/control-plane/spire-binaries.ts'
import { cgroupPlace } from '../../test/svid/agent/cgroup.ts'
import type { Project, Step } from './run.ts'

/** A part of the gate. `npm run gate -- --only NAME` runs it alone. */
export interface Part {
  readonly name: string
  readonly title: string
  readonly steps?: readonly Step[]
  /** The project of vitest.config.ts whose tests it runs. */
  readonly project?: Project
  /** What programs from elsewhere its tests need; absent: none. */
  readonly needs?: Needs
}

/** Programs that not every machine has or can build. */
interface Needs {
  readonly ensure: () => Promise<{ readonly available: true } | NoBinaries>
  /** What nobody knows without these tests, for the very end. */
  readonly otherwise: readonly string[]
  /** Only root can run them: without root it is no failure of CI that they do not run. */
  readonly root?: true
}

/** What `npm test` checks before its tests. */
export const CHECKS: readonly Step[] = [
  { name: 'types', command: ['tsc'] },
  { name: 'types of the page', command: ['tsc', '-p', 'plugin/src/answers/map/page'] },
  { name: 'types of what a browser runs', command: ['tsc', '-p', 'test/browser'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check'] },
]

/** The share of the gate's random cases that `npm test` tries (test/testing/src/runs.ts). */
export const RUNS_OF_TEST = '0.2'

const needsSpire = async (): Promise<{ readonly available: true } | NoBinaries> => {
  const controlPlane = await ensureBinaries()
  return controlPlane.available ? ensureSpire() : controlPlane
}

/** What the parts need that run what is built, if the part that builds all of it is not run. */
export const BUILD: Step = { name: 'build', command: ['node', 'scripts/build.ts'] }

/** What the gate runs after `npm test`. The first builds what the others run. */
export const PARTS: readonly Part[] = [
  {
    name: 'release',
    title: 'what is built and shipped',
    steps: [
      { name: 'types of the site', command: ['tsc', '-p', 'scripts/site'] },
      // It builds what `npm run build` builds, and all that is shipped of it.
      { name: 'release (dry run)', command: ['node', 'scripts/release.ts', '--dry-run'] },
      { name: 'demo', command: ['node', 'scripts/demo.ts', '--quiet'] },
      {
        name: 'bench (small sizes, for its exit code only)',
        command: ['node', 'bench/run.ts', '--quick'],
      },
    ],
  },
  {
    name: 'programs',
    title: 'tests of whole programs, files of a release and pages',
    project: 'programs',
  },
  {
    name: 'control-plane',
    title: 'tests on a real control plane',
    project: 'control-plane',
    needs: {
      ensure: () => ensureBinaries(),
      otherwise: [
        'NOT RUN: every test on a real control plane (test/control-plane).',
        'Nothing above shows that the operator works on an API server.',
      ],
    },
  },
  {
    name: 'svid',
    title: 'tests against the real SPIRE controller manager',
    project: 'svid',
    needs: {
      ensure: needsSpire,
      otherwise: [
        'NOT RUN: every test against the real SPIRE controller manager (test/svid).',
        'Nothing above shows that the predictions of who gets which identity are right.',
      ],
    },
  },
  {
    name: 'agent',
    title: 'tests with a real spire-agent',
    project: 'agent',
    needs: {
      ensure: async () => {
        const place = cgroupPlace()
        return place.available ? needsSpire() : place
      },
      otherwise: [
        'NOT RUN: every test with a real spire-agent (test/svid/agent).',
        'Nothing above shows that containers get the SVIDs that the entries of the server give them.',
      ],
      // A workflow runs it as root in a job of its own.
      root: true,
    },
  },
]

/** Whether it is a failure that the suites of a part could not run: in CI it is, unless they need root and CI has none. */
export function mustRun({ root }: Needs): boolean {
  return process.env['CI'] === 'true' && (root !== true || process.getuid?.() === 0)
}
