import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'

/** The reaction of the server to one request, after it has read the whole request. */
export type ScriptedReply =
  | {
      readonly play: 'reply'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Uint8Array
      /** The promise that the reply waits for. */
      readonly after?: Promise<unknown>
    }
  /** A TCP reset. With a status, the head is sent before it, and `body` as the beginning of a longer body. */
  | { readonly play: 'reset'; readonly status?: number; readonly body?: string | Uint8Array }
  /** The head and `body`; after that the reply never ends. */
  | { readonly play: 'stall'; readonly status: number; readonly body?: string | Uint8Array }
  /** No reply at all. */
  | { readonly play: 'silence' }
  /** A body without end, sent as fast as the client reads. */
  | { readonly play: 'flood'; readonly status: number }
  /** The given bytes instead of HTTP; after that the connection is closed. */
  | { readonly play: 'raw'; readonly bytes: string | Uint8Array }

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Decompressed. */
  readonly body: Uint8Array
  readonly wireBytes: number
  /** Resolves when the reply has been sent or the client has disconnected. */
  readonly over: Promise<void>
}

type Script = readonly ScriptedReply[] | ((request: RecordedRequest, index: number) => ScriptedReply)

const scriptIsOver: ScriptedReply = { play: 'reply', status: 500, body: 'the script has no reply for this request' }

/** An HTTP server on a loopback port that plays its replies in the order in which requests have arrived. */
export class ScriptedServer {
  readonly requests: RecordedRequest[] = []
  readonly #server: Server
  readonly #watchers: { readonly count: number; resolve(): void }[] = []

  static async start(script: Script): Promise<ScriptedServer> {
    const started = new ScriptedServer(script)
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve))
    return started
  }

  private constructor(script: Script) {
    const replyTo = typeof script === 'function' ? script : (_: RecordedRequest, index: number) => script[index]
    this.#server = createServer(async (message, response) => {
      const request = await record(message, response)
      const reply = replyTo(request, this.requests.push(request) - 1) ?? scriptIsOver
      for (const watcher of this.#watchers) if (watcher.count <= this.requests.length) watcher.resolve()
      await play(reply, response)
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when `count` requests have arrived completely. */
  async received(count: number): Promise<void> {
    if (this.requests.length >= count) return
    await new Promise<void>((resolve) => this.#watchers.push({ count, resolve }))
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}

/** Returns the URL of a port that refuses connections. */
export async function refusedUrl(): Promise<string> {
  const server = await ScriptedServer.start([])
  const { url } = server
  await server.close()
  return url
}

async function record(message: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const parts: Uint8Array[] = []
  for await (const part of message) parts.push(part)
  const wire = Buffer.concat(parts)
  return {
    method: message.method ?? '',
    path: message.url ?? '',
    headers: message.headers,
    body: message.headers['content-encoding'] === 'gzip' ? gunzipSync(wire) : wire,
    wireBytes: wire.length,
    over: new Promise((resolve) => response.once('close', () => resolve())),
  }
}

function* flood(): Generator<Uint8Array> {
  for (const part = Buffer.alloc(16 * 1024, 'x'); ; ) yield part
}

async function play(reply: ScriptedReply, response: ServerResponse): Promise<void> {
  const { socket } = response
  switch (reply.play) {
    case 'reply':
      await reply.after
      response.writeHead(reply.status, reply.headers)
      response.end(reply.body)
      return
    case 'reset':
      if (reply.status === undefined) socket?.resetAndDestroy()
      else startOfReply(response, reply.status, reply.body, () => socket?.resetAndDestroy())
      return
    case 'stall':
      startOfReply(response, reply.status, reply.body, () => {})
      return
    case 'silence':
      return
    case 'flood':
      response.writeHead(reply.status)
      pipeline(Readable.from(flood()), response, () => {})
      return
    case 'raw':
      socket?.end(reply.bytes)
      return
  }
}

const DECLARED_BYTES = '1000000'

/**
 * Sends the beginning of a reply. It declares a longer body than it sends, so that the client can detect that the reply
 * is incomplete.
 */
function startOfReply(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array | undefined,
  sent: () => void,
): void {
  response.writeHead(status, { 'content-length': DECLARED_BYTES })
  if (body === undefined) {
    response.flushHeaders()
    sent()
  } else {
    response.write(body, sent)
  }
}
