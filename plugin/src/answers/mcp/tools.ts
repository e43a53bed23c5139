// The tools of `kubectl kleym mcp`: each is a command that only reads, with arguments that no text can turn into flags.
import * as z from 'zod'
import type { CommandConfig, KleymCommand } from '../../flags/command.ts'
import { ConflictsCommand } from '../conflicts/command.ts'
import { DiffCommand } from '../diff/command.ts'
import { ExplainCommand, hasPage } from '../explain/command.ts'
import { PoliciesCommand } from '../policies/command.ts'
import { WhoSelectsCommand } from '../who-selects/command.ts'
import { WhyCommand } from '../why/command.ts'

/** The longest manifests of a `diff`, in characters. */
export const MANIFESTS_MAX = 1024 * 1024
const NAME_MAX = 2_048

/** The arguments of a call; each tool takes some of them. */
export interface ToolArguments {
  readonly namespace?: string | undefined
  /** The word of the command line, if the tool takes one. */
  readonly target?: string | undefined
  /** YAML or JSON, read as `-f -`. */
  readonly manifests?: string | undefined
  /** The entries of a server, read as `--entries -`. */
  readonly entries?: string | undefined
  readonly container?: string | undefined
  readonly spiffe_id?: string | undefined
  readonly selectors?: string | undefined
}

/** The arguments that are flags of their command. */
export const FLAG_ARGUMENTS = {
  container: '--container',
  spiffe_id: '--spiffe-id',
  selectors: '--selectors',
} as const satisfies Partial<Record<keyof ToolArguments, string>>

/** One tool. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly command: new (argv: string[], config: CommandConfig) => KleymCommand
  /** Strict: a misspelt argument must not widen the question to what it would have narrowed. */
  readonly inputSchema: z.ZodObject<Record<string, z.ZodOptional<z.ZodString> | z.ZodString>>
  /** Whether it is about the cluster or the files of the server: `why` reads neither. */
  readonly hasSources: boolean
}

/** No flag begins so, and no second word can follow. */
const word = (what: string): z.ZodString =>
  z
    .string()
    .max(NAME_MAX)
    .regex(/^[A-Za-z0-9]\S*$/, 'must be one word that begins with a letter or digit')
    .describe(what)

const namespace = word('Only this namespace; without it, all that the server may ask about.').optional()

/** All tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'explain',
    title: 'Explain bindings',
    description:
      'Why an InferenceIdentityBinding is ready, refused or waiting, which SPIFFE ID it gives, and which pods and containers get it.',
    command: ExplainCommand,
    inputSchema: z.strictObject({
      target: word('A binding, as NAMESPACE/NAME; without it, all.').optional(),
      namespace,
    }),
    hasSources: true,
  },
  {
    name: 'who_selects',
    title: 'Who gets which identity',
    description:
      'Which SPIFFE identities a pod, workload, service account or pool gets, from which objects, or who holds a SPIFFE ID.',
    command: WhoSelectsCommand,
    inputSchema: z.strictObject({
      target: word(
        'pod/NAME, deployment/NAME, sa/NAME, inferencepool/NAME, iib/NAME, or a SPIFFE ID; without it, all.',
      ).optional(),
      namespace,
    }),
    hasSources: true,
  },
  {
    name: 'conflicts',
    title: 'What clashes',
    description:
      'Bindings, registrations and access policies that clash, with a code, the evidence and a fix for each.',
    command: ConflictsCommand,
    inputSchema: z.strictObject({
      target: word('Only this binding, as NAMESPACE/NAME.').optional(),
      namespace,
    }),
    hasSources: true,
  },
  {
    name: 'diff',
    title: 'What manifests would change',
    description:
      'Which identities and findings would change if the given manifests were applied. Nothing is applied.',
    command: DiffCommand,
    inputSchema: z.strictObject({
      manifests: z
        .string()
        .min(1)
        .max(MANIFESTS_MAX)
        .describe('Kubernetes manifests in YAML, with --- between them.'),
    }),
    hasSources: true,
  },
  {
    name: 'policies',
    title: 'Whom policies name',
    description: 'Which access policies name which identities, who holds those, and which match nobody.',
    command: PoliciesCommand,
    inputSchema: z.strictObject({
      target: word('A policy, as NAMESPACE/NAME; without it, all.').optional(),
      namespace,
    }),
    hasSources: true,
  },
  {
    name: 'why_no_svid',
    title: 'Why a pod has no SVID',
    description:
      'Follows the identity of a container hop by hop (wanted, installed, rendered, on the server, on the agent, attested, reachable, used), ' +
      'for any pod, and names the first hop that is broken, with its fix. A hop that is not known says which command settles it; nothing is executed.',
    command: WhyCommand,
    inputSchema: z.strictObject({
      target: word('A pod, as NAMESPACE/NAME, or a workload, as deployment/NAME.'),
      namespace,
      container: word('Only this container; without it, those that a registration is for.').optional(),
      spiffe_id: word('Only this identity.').optional(),
      entries: z
        .string()
        .min(1)
        .max(MANIFESTS_MAX)
        .optional()
        .describe('What spire-server entry show -output json printed.'),
      selectors: word(
        'The selectors that the agent found, as type:value with commas between them.',
      ).optional(),
    }),
    hasSources: true,
  },
  {
    name: 'why',
    title: 'What a code means',
    description:
      'What a code of a finding (KLM301) or a reason of a condition (UnsafeSelector) means, and how to put it right.',
    command: ExplainCommand,
    // Any other word is a binding, which would be looked for in the cluster of the default kubeconfig.
    inputSchema: z.strictObject({
      target: word('A code or a reason.').refine(
        hasPage,
        'must be a code, as KLM301, or a reason, as UnsafeSelector',
      ),
    }),
    hasSources: false,
  },
]
