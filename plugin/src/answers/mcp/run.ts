// The life of `kubectl kleym mcp`: from its first line on stdin to the last, with the answers on stdout.
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { CommandContext, CommandResult } from '../../io/context.ts'
import { EXIT, KleymError } from '../../io/errors.ts'
import type { ServerFlags } from './ask.ts'
import { kleymServer } from './server.ts'
import { MANIFESTS_MAX } from './tools.ts'

/** Serves until stdin ends. */
export async function run(flags: ServerFlags, context: CommandContext): Promise<CommandResult> {
  const { server, idle } = kleymServer(flags, context)
  const transport = new ContextTransport(context)
  await server.connect(transport)
  const broken = await transport.ended
  await idle()
  if (broken !== undefined)
    throw new KleymError('input', {
      what: 'stdin cannot be read any further',
      why: broken.message,
      fix: 'send one message a line, and shorter ones',
      docs: 'docs/assistants.md',
    })
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
  readonly #ended = Promise.withResolvers<Error | undefined>()

  constructor(context: CommandContext) {
    this.#context = context
  }

  /** Resolves when stdin has ended; with the reason where it cannot be read any further, as after a line that is too long. */
  get ended(): Promise<Error | undefined> {
    return this.#ended.promise
  }

  async start(): Promise<void> {
    void this.#read().then(this.#ended.resolve)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#context.stdout.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    this.onclose?.()
    this.#ended.resolve(undefined)
  }

  async #read(): Promise<Error | undefined> {
    const buffer = new ReadBuffer({ maxBufferSize: MESSAGE_MAX })
    try {
      for await (const chunk of this.#context.stdin) {
        buffer.append(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)))
        for (let more = true; more;) more = this.#take(buffer)
      }
      return undefined
    } catch (error) {
      return this.#reject(error)
    }
  }

  /** Hands on one message; false where no whole one is there. A line that is none is refused, and passed over. */
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

  /** Answers what is no message as the protocol asks: nobody is to wait for an answer that never comes. */
  #reject(error: unknown): Error {
    const problem = error instanceof Error ? error : new Error(String(error))
    this.#context.stderr.write(`kubectl kleym mcp: ${problem.message.slice(0, 500)}\n`)
    const refusal =
      problem instanceof SyntaxError
        ? { code: ErrorCode.ParseError, message: 'Parse error' }
        : { code: ErrorCode.InvalidRequest, message: 'Invalid Request' }
    this.#context.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: refusal })}\n`)
    this.onerror?.(problem)
    return problem
  }
}
