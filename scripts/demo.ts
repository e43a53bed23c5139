// `npm run demo`: a walk through the estate of examples/ with the real plugin, in chapters. It prints what is asked and what is
// answered, a screen at a time, and fails when an exit code is not the one that it promises.
//   npm run demo                the first question of each chapter: about three minutes
//   npm run demo -- 3           chapter 3
//   npm run demo -- all         all chapters, each answer whole
//   npm run demo -- --quiet     all chapters; prints what fails
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline/promises'

const ROOT = join(import.meta.dirname, '..')
const PLUGIN = join(ROOT, 'dist', 'kubectl-kleym')
const ESTATE = ['--offline', '-R', '-f', 'examples/estate']
/** Lines of a screen that an answer leaves free: the question, the command, what was cut, and the prompt. */
const MARGIN = 10

interface Scene {
  readonly says: string
  readonly args: readonly string[]
  readonly exitCode: number
}

interface Chapter {
  readonly title: string
  /** The first is the one that the walk through all chapters shows. */
  readonly scenes: readonly Scene[]
}

const CHAPTERS: readonly Chapter[] = [
  {
    title: 'An identity, and why it is safe',
    scenes: [
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
        says: 'Before anything runs: what will the pods of a Deployment get?',
        args: ['who-selects', 'deployment/team-a/llama', ...ESTATE],
        exitCode: 0,
      },
      {
        says: 'The registration entries behind it, as spire-server would show them.',
        args: ['who-selects', 'pod/lab/duo', '--entries', ...ESTATE],
        exitCode: 0,
      },
    ],
  },
  {
    title: 'A refusal, and its fix',
    scenes: [
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
        says: 'What does a code mean? No cluster and no network are needed.',
        args: ['explain', 'KLM301'],
        exitCode: 0,
      },
    ],
  },
  {
    title: 'What a pull request changes',
    scenes: [
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
    ],
  },
  {
    title: 'Who holds what',
    scenes: [
      {
        says: 'team-b uses the same labels as team-a. Does it get the identity of team-a? It does not, and it keeps its default.',
        args: ['who-selects', '-n', 'team-b', '-l', 'app=llama', ...ESTATE],
        exitCode: 0,
      },
      {
        says: 'The other way round: who would hold this identity?',
        args: ['who-selects', '--spiffe-id', 'spiffe://example.org/ns/team-a/objective/chat', ...ESTATE],
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
    ],
  },
  {
    title: 'What the server holds, and a pod that has no identity',
    scenes: [
      {
        says: 'Are the entries of the server those that the objects ask for?',
        args: ['verify', '--entries', 'examples/server/entries.json', ...ESTATE],
        exitCode: 1,
      },
      {
        says: 'A container of team-a cannot fetch its SVID. Where does the way from the binding to the container break?',
        args: ['why', 'pod/team-a/llama-pqjm8lw-knkfm', '-c', 'vllm', ...ESTATE],
        exitCode: 4,
      },
      {
        says: 'The same with the entries of the SPIRE server: one hop less is unknown.',
        args: [
          'why',
          'pod/team-a/llama-pqjm8lw-knkfm',
          '-c',
          'vllm',
          ...ESTATE,
          '--entries',
          'examples/server/entries.json',
        ],
        exitCode: 4,
      },
    ],
  },
]

/** What is asked for: the scenes, and whether each answer is printed whole. */
interface Walk {
  readonly scenes: readonly Scene[]
  readonly whole: boolean
  readonly quiet: boolean
}

/** The walk that the arguments name, or undefined if they name none. */
function walkOf(args: readonly string[]): Walk | undefined {
  const [wanted, ...more] = args
  if (more.length > 0) return undefined
  const all = CHAPTERS.flatMap(({ scenes }) => scenes)
  if (wanted === undefined)
    return { scenes: CHAPTERS.flatMap(({ scenes }) => scenes.slice(0, 1)), whole: false, quiet: false }
  if (wanted === 'all') return { scenes: all, whole: true, quiet: false }
  if (wanted === '--quiet') return { scenes: all, whole: true, quiet: true }
  const chapter = /^[1-9]\d*$/.test(wanted) ? CHAPTERS[Number(wanted) - 1] : undefined
  return chapter && { scenes: chapter.scenes, whole: false, quiet: false }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Builds the plugin where it is not there yet; the build is part of what a newcomer tries. */
function build(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.ts')], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the build failed:\n${stderr}`)
}

/** As much of an answer as a screen has room for: the first lines answer. */
function screenful(answer: string): string {
  const lines = answer.trimEnd().split('\n')
  const room = Math.max(12, (process.stdout.rows ?? 40) - MARGIN)
  if (lines.length <= room) return answer.trimEnd()
  return [
    ...lines.slice(0, room),
    `… and ${lines.length - room} more lines (npm run demo -- all shows them)`,
  ].join('\n')
}

/** Asks the plugin, and says whether the exit code is the promised one. */
function play({ says, args, exitCode }: Scene, { whole, quiet }: Walk): boolean {
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
  const answer = `${stdout}${stderr}`
  if (!quiet || !asPromised)
    say(`\n# ${says}\n$ kubectl kleym ${args.join(' ')}\n\n${whole ? answer.trimEnd() : screenful(answer)}`)
  if (!asPromised) say(`\nThis exited with ${String(status)}; ${exitCode} was promised.`)
  return asPromised
}

/** Waits for Enter on a terminal. False: the reader has had enough. */
async function goesOn(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('q')))
  const answer = await Promise.race([terminal.question('\nEnter: the next question, q: end '), closed])
  terminal.close()
  return answer.trim().toLowerCase() !== 'q'
}

async function main(args: readonly string[]): Promise<number> {
  const walk = walkOf(args)
  if (walk === undefined) {
    process.stderr.write(
      `error: the demo has no chapter ${args.join(' ')}\n  fix:  name one of 1 to ${CHAPTERS.length}, or all\n`,
    )
    return 2
  }
  build()
  let failed = 0
  for (const [at, scene] of walk.scenes.entries()) {
    if (at > 0 && !(await goesOn())) break
    if (!play(scene, walk)) failed += 1
  }
  if (failed > 0) {
    say(`\n${failed} of ${walk.scenes.length} questions were not answered as promised.`)
    return 1
  }
  if (!walk.quiet) {
    say('\nMore of each: npm run demo -- NUMBER')
    for (const [at, { title, scenes }] of CHAPTERS.entries())
      say(`  ${at + 1}  ${title} (${scenes.length} questions)`)
    say('Yours next: npm run build, then dist/kubectl-kleym explain -A --offline -R -f DIR')
  }
  return 0
}

process.exitCode = await main(process.argv.slice(2))
