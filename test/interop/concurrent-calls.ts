import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { decodeRequest, encodeRequest, type OtlpRequest } from '@penstock/otlp'
import { onTestFinished } from 'vitest'
import { EXPORT_TRACES } from '../gateway/grpc-call.ts'
import { preparedPaths } from './prepared.ts'

/** A gRPC library. */
export const libraries = ['grpc-js', 'grpcio', 'grpc-go'] as const
export type Library = (typeof libraries)[number]

/** An order for one call. js/calls.mjs, python/calls.py and go/calls.go read it as a line of JSON. */
export interface CallOrder {
  /** The id of the only span in the body. */
  readonly id: string
  readonly path: string
  /** The request message in base64. */
  readonly body: string
  readonly deadlineMs: number
  readonly cancelAfterMs?: number
}

export interface CallOutcome {
  readonly id: string
  /** The gRPC code that the library reported. */
  readonly code: number
  readonly message: string
}

/** A process with one channel of a gRPC library. */
export interface CallClient {
  call(order: CallOrder): Promise<CallOutcome>
}

export interface CallClientStart {
  readonly port: number
  readonly token: string
  readonly compression: 'gzip' | 'identity'
  /** The time between pings on a connection with calls. grpc-go raises it to 10 s. */
  readonly keepaliveMs: number
}

/** Starts a client that keeps calling the port over one connection at a time. It ends with the test. */
export async function startCallClient(
  library: Library,
  { port, token, compression, keepaliveMs }: CallClientStart,
): Promise<CallClient> {
  const [command, ...args] = commandOf(library)
  const child = spawn(command!, [...args, `127.0.0.1:${port}`, token, compression, String(keepaliveMs)], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const waiting = new Map<string, (outcome: CallOutcome) => void>()
  const ready = new Promise<CallOutcome>((resolve) => waiting.set('ready', resolve))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const outcome = JSON.parse(line) as CallOutcome
    waiting.get(outcome.id)?.(outcome)
    waiting.delete(outcome.id)
  })
  child.once('close', (status) => {
    for (const [id, resolve] of waiting) resolve({ id, code: -1, message: `the client ended with ${status}` })
  })
  const { code = 0, message } = await ready
  if (code !== 0) throw new Error(`${library}: ${message}`)
  return {
    call: (order) =>
      new Promise((resolve) => {
        waiting.set(order.id, resolve)
        child.stdin.write(`${JSON.stringify(order)}\n`)
      }),
  }
}

function commandOf(library: Library): string[] {
  const { python, go } = preparedPaths()
  switch (library) {
    case 'grpc-js':
      return [process.execPath, join(import.meta.dirname, 'js/calls.mjs')]
    case 'grpcio':
      return [python, '-u', join(import.meta.dirname, 'python/calls.py')]
    case 'grpc-go':
      return [go, 'calls']
  }
}

const dropped = { attributes: [], droppedAttributesCount: 0 }

/** Returns the order for a call with one span that has the given id, in hexadecimal, and an attribute of some length. */
export function orderOf(id: string, padding: string, deadlineMs: number, cancelAfterMs?: number): CallOrder {
  const span = {
    ...dropped,
    attributes: [{ key: 'padding', type: 'string', value: padding }],
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: id,
    traceState: '',
    parentSpanId: '',
    flags: 0,
    name: `span ${id}`,
    kind: 1,
    startTimeUnixNano: 1_789_000_000_000_000_000n,
    endTimeUnixNano: 1_789_000_000_000_000_005n,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: undefined,
  }
  const scope = { name: 'calls', version: '1', ...dropped }
  const resource = { resource: dropped, scopes: [{ scope, items: [span], schemaUrl: '' }], schemaUrl: '' }
  const body = encodeRequest('traces', { resources: [resource] } as unknown as OtlpRequest<'traces'>, 'protobuf')
  const order = { id, path: EXPORT_TRACES, body: Buffer.from(body).toString('base64'), deadlineMs }
  return { ...order, ...(cancelAfterMs !== undefined && { cancelAfterMs }) }
}

/** An upstream that answers late, and keeps the complete bodies that arrived. */
export interface LateUpstream {
  readonly url: string
  readonly bodies: readonly Buffer[]
}

/** Starts an upstream on a loopback port. It is closed with the test. */
export async function startLateUpstream(delayMs: () => number): Promise<LateUpstream> {
  const bodies: Buffer[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part)
    } catch {
      return // the gateway gave the request up
    }
    const wire = Buffer.concat(parts)
    bodies.push(request.headers['content-encoding'] === 'gzip' ? gunzipSync(wire) : wire)
    await sleep(delayMs())
    response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': '0' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

/** Returns the ids of the spans in a body, in order. */
export const spanIdsIn = (body: Buffer): string[] =>
  decodeRequest('traces', body, 'protobuf').resources.flatMap(({ scopes }) =>
    scopes.flatMap(({ items }) => items.map(({ spanId }) => spanId)),
  )
