// The life of `kubectl kleym mcp`: from its first line on stdin to the last, with the answers on stdout.
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { EXIT } from '../../io/errors.ts'
import type { ServerFlags } from './ask.ts'
import { kleymServer } from './server.ts'
import { MANIFESTS_MAX } from './tools.ts'

/** Serves until stdin ends. */
export async function run(flags: ServerFlags, context: CommandContext): Promise<CommandResult> {
  const { server, idle } = kleymServer(flags, context)
  const transport = new ContextTransport(context)
  await server.connect(transport)
  await transport.ended
  await idle()
  return { answer: '', notes: [], exitCode: EXIT.ok }
}

/** The longest message, in bytes: manifests as JSON text, and the rest of a call. */
const MESSAGE_MAX = 8 * MANIFESTS_MAX

/** The streams of the context as the protocol's stdio transport: one JSON text a line. */
class ContextTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #context: CommandContext
  readonly #ended = Promise.withResolvers<void>()

  constructor(context: CommandContext) {
    this.#context = context
  }

  /** Resolves when stdin has ended, or has sent a line that is too long. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  async start(): Promise<void> {
    void this.#read().then(() => this.#ended.resolve())
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#context.stdout.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    this.onclose?.()
    this.#ended.resolve()
  }

  async #read(): Promise<void> {
    const buffer = new ReadBuffer({ maxBufferSize: MESSAGE_MAX })
    try {
      for await (const chunk of this.#context.stdin) {
        buffer.append(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)))
        for (let more = true; more;) more = this.#take(buffer)
      }
    } catch (error) {
      this.#reject(error)
    }
  }

  /** Hands on one message; false where no whole one is there. A line that is none is reported, and passed over. */
  #take(buffer: ReadBuffer): boolean {
    try {
      const message = buffer.readMessage()
      if (message === null) return false
      this.onmessage?.(message)
    } catch (error) {
      this.#reject(error)
    }
    return true
  }

  #reject(error: unknown): void {
    const problem = error instanceof Error ? error : new Error(String(error))
    this.#context.stderr.write(`kubectl kleym mcp: ${problem.message.slice(0, 500)}\n`)
    this.onerror?.(problem)
  }
}
