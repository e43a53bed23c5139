// `npm run demo`: a walk through the estate of examples/ with the real plugin. It prints what is asked and what is
// answered, and fails when an exit code is not the one that it promises.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'

const ROOT = join(import.meta.dirname, '..')
const PLUGIN = join(ROOT, 'dist', 'kubectl-kleym')
const QUIET = process.argv.includes('--quiet')
const ESTATE = ['--offline', '-R', '-f', 'examples/estate']

interface Scene {
  readonly says: string
  readonly args: readonly string[]
  readonly exitCode: number
}

const SCENES: readonly Scene[] = [
  {
    says: 'team-a serves chat from container vllm of pool llama. Who gets which identity, and why?',
    args: ['explain', 'team-a/chat', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'The decode pods of a prefill/decode pool terminate TLS in a native sidecar: it gets the identity. At what price?',
    args: ['explain', 'serving/edge', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'Prefill and decode pods of one pool share account and container name. How does each role get an identity of its own?',
    args: ['explain', '-n', 'roles', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'Two bindings, one container: one pool selects all pods of the other, so both are refused.',
    args: ['explain', 'playground/phi', ...ESTATE],
    exitCode: 1,
  },
  {
    says: 'Every way of being refused that files can show has a binding in namespace playground.',
    args: ['explain', '-n', 'playground', ...ESTATE],
    exitCode: 1,
  },
  {
    says: 'team-b uses the same labels as team-a. Does it get the identity of team-a? It does not, and it keeps its default.',
    args: ['who-selects', '-n', 'team-b', '-l', 'app=llama', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'Before anything runs: what will the pods of a Deployment get?',
    args: ['who-selects', 'deployment/team-a/llama', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'The other way round: who would hold this identity?',
    args: ['who-selects', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'What a pull request gives and takes, namespace by namespace; with -o html it is a page to look at.',
    args: [
      'map',
      '--offline',
      '--compare',
      'examples/pull-request/base',
      '-R',
      '-f',
      'examples/pull-request/head',
    ],
    exitCode: 0,
  },
  {
    says: 'The registration entries behind it, as spire-server would show them.',
    args: ['who-selects', 'pod/lab/duo', '--entries', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'What clashes in namespace lab, where nothing is refused and much is risky?',
    args: ['conflicts', '-n', 'lab', ...ESTATE],
    exitCode: 1,
  },
  {
    says: 'The gateway of the agents names its callers by SPIFFE ID. Are they there, and who are they?',
    args: ['policies', 'agents/tools', 'agents/dangling', ...ESTATE],
    exitCode: 0,
  },
  {
    says: 'A pull request renames one binding and deletes another. Two folders, each a whole desired state: who loses what?',
    args: [
      'diff',
      '--offline',
      '--base',
      'examples/pull-request/base',
      '-R',
      '-f',
      'examples/pull-request/head',
    ],
    exitCode: 1,
  },
  {
    says: 'team-c has stated once who must hold what. Does it hold before the pull request?',
    args: [
      'test',
      'examples/identity-tests/team-c.yaml',
      '--offline',
      '-R',
      '-f',
      'examples/pull-request/base',
    ],
    exitCode: 0,
  },
  {
    says: 'And after it? The tests catch what a review may overlook.',
    args: [
      'test',
      'examples/identity-tests/team-c.yaml',
      '--offline',
      '-R',
      '-f',
      'examples/pull-request/head',
    ],
    exitCode: 1,
  },
  {
    says: 'The same branch twice is no difference: what a gate lets pass.',
    args: [
      'diff',
      '--offline',
      '--base',
      'examples/pull-request/head',
      '-R',
      '-f',
      'examples/pull-request/head',
    ],
    exitCode: 0,
  },
  {
    says: 'A pull request renames the objective of chat. What would change, for which containers, and which policy would name no container?',
    args: ['diff', '--offline', '--live', 'examples/estate', '-f', 'examples/changes/rename-objective'],
    exitCode: 1,
  },
  {
    says: 'Another one adds a binding that collides. Which identities are lost?',
    args: ['diff', '--offline', '--live', 'examples/estate', '-f', 'examples/changes/add-collision'],
    exitCode: 1,
  },
  {
    says: 'Another one gives the identity of team-a to a pod of team-b, by hand and past kleym.',
    args: ['diff', '--offline', '--live', 'examples/estate', '-f', 'examples/changes/steal-identity'],
    exitCode: 1,
  },
  {
    says: 'And one writes ttl: 1d, which stops the SPIRE controller manager.',
    args: ['diff', '--offline', '--live', 'examples/estate', '-f', 'examples/changes/bad-duration'],
    exitCode: 1,
  },
  {
    says: 'What does a code mean? No cluster and no network are needed.',
    args: ['explain', 'KLM402'],
    exitCode: 0,
  },
]

/** Builds the plugin where it is not there yet; the build is part of what a newcomer tries. */
function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.ts')], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the build failed:\n${stderr}`)
}

function play({ says, args, exitCode }: Scene): boolean {
  const { status, stdout, stderr } = spawnSync(
    PLUGIN,
    [...args, '--color', process.stdout.isTTY ? 'always' : 'never'],
    {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, COLUMNS: String(process.stdout.columns ?? process.env['COLUMNS'] ?? 80) },
    },
  )
  const asPromised = status === exitCode
  if (!QUIET || !asPromised) {
    process.stdout.write(`\n# ${says}\n$ kubectl kleym ${args.join(' ')}\n\n${stdout}${stderr}`)
  }
  if (!asPromised) process.stdout.write(`\nThis exited with ${String(status)}; ${exitCode} was promised.\n`)
  return asPromised
}

build()
const failed = SCENES.filter((scene) => !play(scene)).length
process.stdout.write(
  failed === 0
    ? `\n${SCENES.length} questions, ${SCENES.length} answers. Yours next: dist/kubectl-kleym explain --offline -R -f DIR\n`
    : `\n${failed} of ${SCENES.length} questions were not answered as promised.\n`,
)
process.exitCode = failed === 0 ? 0 : 1
