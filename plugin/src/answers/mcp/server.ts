// The server of `kubectl kleym mcp`, by the official SDK (https://modelcontextprotocol.io/specification/2025-11-25).
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CommandContext } from '../../io/context.ts'
import { ask, type ServerFlags } from './ask.ts'
import { TOOLS } from './tools.ts'

/** The most calls that wait: one runs at a time, since each may hold a whole cluster in memory. */
const WAITING_MAX = 16

/** A server with all tools, and the end of what it has begun. */
export interface KleymServer {
  readonly server: McpServer
  /** Resolves when no call is under way. */
  readonly idle: () => Promise<void>
}

/** Makes it; nothing runs before it is connected. */
export function kleymServer(flags: ServerFlags, context: CommandContext): KleymServer {
  const server = new McpServer(
    { name: 'kubectl-kleym', title: 'kleym', version: context.version },
    {
      instructions:
        'Answers about SPIFFE identities of inference pools, from the cluster or the files that it was started with. It only reads. ' +
        'An answer that is not certain says so; do not take what is unknown for absent.',
    },
  )
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  for (const tool of TOOLS)
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: tool.inputSchema,
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      },
      async (args) => {
        if (waiting >= WAITING_MAX)
          return {
            isError: true,
            content: [{ type: 'text', text: 'too many calls are waiting; ask again later' }],
          }
        waiting++
        const answer = last.then(() => ask(tool, args, flags, context))
        last = answer
        const { texts, isError } = await answer
        waiting--
        return { isError, content: texts.map((text) => ({ type: 'text', text })) }
      },
    )
  return { server, idle: async () => void (await last) }
}
