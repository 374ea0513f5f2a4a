import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { decodeRequest } from '@penstock/otlp'
import { wholeBody } from '../../export/whole-body.ts'
import { idsIn } from '../../gateway/numbered-body.ts'

/** A request that the receiver accepted. */
export interface Acceptance {
  /** The name of the process that sent it. */
  readonly sender: string
  /** The time by `performance.now()`. */
  readonly atMs: number
}

/** The spans of one trace that the receiver has accepted. */
interface ReceivedTrace {
  /** The ids of pipelines that spans of the trace contain. */
  readonly pipelines: Set<string>
  readonly spanIds: Set<string>
}

/** An OTLP/HTTP backend that accepts everything, and records which process exported which pipeline under which ids. */
export class ExportReceiver implements AsyncDisposable {
  /** The accepted requests by `<signal> <pipeline>`, in order. */
  readonly ledger = new Map<string, Acceptance[]>()
  readonly traces = new Map<string, ReceivedTrace>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(): Promise<ExportReceiver> {
    const receiver = new ExportReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const [, sender, , signal] = request.url!.split('/')
      const body = await wholeBody(request)
      if (body === undefined) return
      this.#accept(sender!, signal!, body)
      response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': '0' })
      response.end()
    })
    this.#server.keepAliveTimeout = 120_000
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket.on('error', () => {}))
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Returns the endpoint for a process, from which the receiver learns its name. */
  urlFor(sender: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${sender}`
  }

  /** The number of repeated acceptances of a signal and pipeline. */
  get again(): number {
    return [...this.ledger.values()].reduce((sum, acceptances) => sum + acceptances.length - 1, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #accept(sender: string, signal: string, body: Buffer): void {
    for (const id of new Set(idsIn(body))) {
      const key = `${signal} ${id}`
      const earlier = this.ledger.get(key) ?? []
      this.ledger.set(key, earlier)
      earlier.push({ sender, atMs: performance.now() })
    }
    if (signal === 'traces') this.#recordSpans(body)
  }

  #recordSpans(body: Buffer): void {
    const { resources } = decodeRequest('traces', body, 'protobuf')
    for (const { traceId, spanId, attributes } of resources.flatMap(({ scopes }) =>
      scopes.flatMap(({ items }) => items),
    )) {
      const trace = this.traces.get(traceId) ?? { pipelines: new Set(), spanIds: new Set() }
      this.traces.set(traceId, trace)
      trace.spanIds.add(spanId)
      const texts = attributes.map(({ value }) => (typeof value === 'string' ? value : ''))
      for (const id of idsIn(Buffer.from(texts.join(' ')))) trace.pipelines.add(id)
    }
  }
}
