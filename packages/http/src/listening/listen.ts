import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Log } from '@penstock/runtime'
import {
  type BrokenRequest,
  brokenRequestProblem,
  plainRefusal,
  type RefusalForm,
  refusalHeaders,
  refusalText,
} from './broken-request.ts'
import type { ConnectionLimits } from './connection-table.ts'
import { Connections } from './connections.ts'
import { type ListenerFull, listenerFull } from './listener-full.ts'
import { type HeadProblem, headProblem, originForm } from './request-head.ts'
import { RunningHandlers } from './running-handlers.ts'

export interface Listening {
  readonly host: string
  /** The port that is bound, also if port 0 was requested. */
  readonly port: number
  /** `http://host:port`, an IPv6 address in brackets. */
  readonly url: string
  /**
   * Stops accepting connections, closes idle ones, and resolves when every request in progress is answered. When `abort`
   * fires, the remaining connections are destroyed. A handler of a client that has gone is awaited too, because it uses
   * the database that the caller closes next: until `abort` fires, and for a short time after that.
   */
  close(abort?: AbortSignal): Promise<void>
}

interface ListenTimes {
  /** The time limit for the head of a request, from its first byte, or from the start of a connection that sends nothing. */
  readonly headMs: number
  /** The time limit for a whole request. It can be short because all requests are small. */
  readonly requestMs: number
  /** How long a client may stop reading the response or sending the body. */
  readonly stallMs: number
}

export interface ListenOptions {
  readonly limits?: Partial<ConnectionLimits>
  readonly times?: Partial<ListenTimes>
  /** Returns whether the limit per address is lifted for an address: a trusted proxy serves many clients. Default: never. */
  readonly isExempt?: (address: string) => boolean
  /** The paths that are served on connections in the reserve. */
  readonly probePaths?: readonly string[]
  /** The format of errors that are sent before the handler sees the request. Default: plain text. */
  readonly refusalForm?: RefusalForm
  readonly log?: Log
}

const defaultConnectionLimits: ConnectionLimits = { maxConnections: 1_000, maxPerAddress: 256, reserve: 32 }
const defaultTimes: ListenTimes = { headMs: 10_000, requestMs: 30_000, stallMs: 60_000 }
/** The interval at which Node checks for requests that exceed their time limits. */
const CHECK_INTERVAL_MS = 1_000
/**
 * How long an idle connection is kept. This is longer than common proxies keep theirs, so that the proxy closes the
 * connection first and never sends a request into one that is being closed.
 */
const KEEP_ALIVE_MS = 75_000
/** How long `close` waits for running handlers after it has destroyed their connections. */
const ABORTED_HANDLERS_MS = 2_000
/** The number of unanswered requests that one connection may have. */
const MAX_PIPELINED = 32
/** The minimum interval between log lines about reached limits. */
const LOG_INTERVAL_MS = 60_000

const tooManyPipelined: HeadProblem = { status: 503, message: 'The connection has too many unanswered requests.' }
const tooManyConnections: HeadProblem = { status: 503, message: 'The server has too many connections.' }
const connectNotSupported: HeadProblem = { status: 405, message: 'This server is not a proxy.' }

/**
 * Serves HTTP/1.1. `ConnectionTable` limits the number of connections, and `ListenTimes` limits how long each may take.
 *
 * @throws the system's error (`code` EADDRINUSE, EACCES …) if the address cannot be bound
 */
export async function listen(
  handler: RequestListener,
  address: { readonly host: string; readonly port: number },
  options: ListenOptions = {},
): Promise<Listening> {
  const { probePaths = [], refusalForm = plainRefusal } = options
  const times = { ...defaultTimes, ...options.times }
  const server = createServer({
    headersTimeout: times.headMs,
    requestTimeout: times.requestMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  server.timeout = times.stallMs
  // With a limit, Node would drop further headers without an error. Node limits their bytes, `headProblem` their number.
  server.maxHeadersCount = 0
  const limits = { ...defaultConnectionLimits, ...options.limits }
  let listening = address
  const connections = new Connections({
    limits,
    isExempt: options.isExempt ?? (() => false),
    onLimit: limitLog(options.log, (source) => listenerFull(listening, limits, source)),
  })
  const handlers = new RunningHandlers(handler)
  server.on('connection', (socket) => connections.add(socket))
  server.on('request', (request, response) => {
    const { socket } = request
    const pipelined = connections.responsesOf(socket).size
    // An earlier request was refused, and the connection ends with that refusal.
    if (pipelined > MAX_PIPELINED) return
    const previous = connections.unfinishedResponseOf(socket)
    const connectionClass = connections.requestBegan(request, response, () => {
      if (!server.listening) socket.end()
    })
    if (!server.listening) response.shouldKeepAlive = false
    request.url = originForm(request.url ?? '')
    const problem =
      headProblem(request.url, request.rawHeaders) ??
      (pipelined === MAX_PIPELINED ? tooManyPipelined : undefined) ??
      (connectionClass === 'reserve' && !probePaths.includes(pathOf(request.url)) ? tooManyConnections : undefined)
    if (problem !== undefined) return refuse(response, problem, refusalForm)
    if (connectionClass === 'reserve') response.shouldKeepAlive = false
    startAfter(previous, socket, () => handlers.run(request, response))
  })
  server.on('connect', (_request, socket) =>
    connections.end(socket as Socket, refusalText(connectNotSupported, refusalForm, { Allow: 'GET' })),
  )
  server.on('timeout', (socket) => {
    const responses = connections.responsesOf(socket)
    // While a handler works, nothing is sent or received either; that is not the client's fault.
    if (responses.size === 0 || socket.writableLength > 0) socket.destroy()
  })
  server.on('clientError', (error: BrokenRequest, stream) => {
    const socket = stream as Socket
    if (connections.isLeaving(socket)) return
    const isSilent = socket.bytesRead === 0
    if (!socket.writable || isSilent || !mayAnswerBroken(connections.responsesOf(socket))) return void socket.destroy()
    connections.end(socket, refusalText(brokenRequestProblem(error), refusalForm))
  })
  server.listen(address.port, address.host)
  await once(server, 'listening')
  server.on('error', (error) => {
    options.log?.error({ event: 'listener.failed', error: error.message }, 'A connection could not be accepted')
  })
  const bound = server.address() as AddressInfo
  listening = { host: bound.address, port: bound.port }
  const closed = new Promise<void>((resolve) => server.once('close', resolve))

  const close = async (abort?: AbortSignal): Promise<void> => {
    if (server.listening) server.close()
    const destroyAll = () => server.closeAllConnections()
    if (abort?.aborted) destroyAll()
    else abort?.addEventListener('abort', destroyAll, { once: true })
    // Node does not count connections as idle that never sent a byte, such as those that browsers open in advance.
    connections.destroyWithoutRequest()
    for (const response of connections.unfinished()) if (!response.headersSent) response.shouldKeepAlive = false
    await closed
    abort?.removeEventListener('abort', destroyAll)
    await handlers.ended(abort, ABORTED_HANDLERS_MS)
  }

  return {
    host: bound.address,
    port: bound.port,
    url: `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close,
  }
}

/**
 * Returns whether an error response may be written now: only if the client cannot mistake it for the response to an earlier
 * request on the same connection.
 */
function mayAnswerBroken(responses: ReadonlySet<ServerResponse>): boolean {
  const [current, ...further] = responses
  if (current === undefined) return true
  return further.length === 0 && !current.headersSent && !current.req.complete
}

/**
 * Starts the work on a request when the previous response is sent. A connection therefore holds one response at a time,
 * even if it pipelines many requests and reads slowly. Does nothing if the connection ends with the previous response.
 */
function startAfter(previous: ServerResponse | undefined, socket: Socket, start: () => void): void {
  if (previous === undefined) start()
  else
    previous.once('close', () => {
      if (socket.writable) start()
    })
}

function refuse(response: ServerResponse, problem: HeadProblem, form: RefusalForm): void {
  const body = form.body(problem)
  const more = problem.status === 503 ? { 'Retry-After': '1' } : {}
  response.writeHead(problem.status, { ...refusalHeaders(body, form), ...more }).end(body)
}

const pathOf = (target: string): string => target.split('?', 1)[0]!

function limitLog(log: Log | undefined, lineOf: (source: string) => ListenerFull): (source: string) => void {
  let isQuiet = false
  return (source) => {
    if (isQuiet || log === undefined) return
    isQuiet = true
    setTimeout(() => {
      isQuiet = false
    }, LOG_INTERVAL_MS).unref()
    const { fields, message } = lineOf(source)
    log.warn(fields, message)
  }
}
