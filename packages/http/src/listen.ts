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

export interface Listening {
  readonly host: string
  /** The bound port, also if any free port was requested. */
  readonly port: number
  /** `http://host:port`, an IPv6 address in brackets. */
  readonly url: string
  /**
   * Accepts no more connections, closes idle ones, and resolves when every request under way is answered. The remaining
   * ones are cut off when `giveUp` aborts.
   */
  close(giveUp?: AbortSignal): Promise<void>
}

export interface ListenTimes {
  /** The time from the first byte of a request, or from the start of a silent connection, to the end of the head. */
  readonly headMs: number
  /** The time for a whole request; all requests are small. */
  readonly requestMs: number
  /** The time in which a client may read nothing of its answer, or send nothing of its body. */
  readonly stallMs: number
}

export interface ListenOptions {
  readonly limits?: Partial<ConnectionLimits>
  readonly times?: Partial<ListenTimes>
  /** Tells whether an address has no limit of its own, because it is a trusted proxy for many clients. Default: none. */
  readonly isExempt?: (address: string) => boolean
  /** The paths that are also answered to connections in the reserve. */
  readonly probePaths?: readonly string[]
  /** The form of errors that are found before the handler sees the request. Default: plain text. */
  readonly refusalForm?: RefusalForm
  readonly log?: Log
}

const defaultConnectionLimits: ConnectionLimits = { maxConnections: 1_000, maxPerAddress: 256, reserve: 32 }
const defaultTimes: ListenTimes = { headMs: 10_000, requestMs: 30_000, stallMs: 60_000 }
/** The interval at which Node looks for late requests. */
const CHECK_MS = 1_000
/**
 * The time an idle connection is kept: longer than proxies keep theirs, so that the proxy closes it and never sends a
 * request into a closing connection.
 */
const KEEP_ALIVE_MS = 75_000
/** Requests of one connection that are accepted before they are answered. */
const MAX_PIPELINED = 32
/** The interval between log lines that say that the limits are reached. */
const LOG_EVERY_MS = 60_000

const pipelinedTooMany: HeadProblem = { status: 503, message: 'Too many requests were sent ahead of their answers.' }
const noRoom: HeadProblem = { status: 503, message: 'The server has too many connections.' }
const noTunnel: HeadProblem = { status: 405, message: 'This server is no proxy.' }

/**
 * Serves HTTP/1.1. No connection is held without a bound: `ConnectionTable` limits the number of connections, and
 * `ListenTimes` their time.
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
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  server.timeout = times.stallMs
  // Node drops further headers without an error. Their bytes are limited, and `headProblem` limits their number.
  server.maxHeadersCount = 0
  const limits = { ...defaultConnectionLimits, ...options.limits }
  let listening = address
  const connections = new Connections({
    limits,
    isExempt: options.isExempt ?? (() => false),
    onLimit: limitLog(options.log, (source) => listenerFull(listening, limits, source)),
  })
  server.on('connection', (socket) => connections.add(socket))
  server.on('request', (request, response) => {
    const { socket } = request
    const pipelined = connections.responsesOf(socket).size
    // Ignored: the connection ends with the refusal of an earlier request.
    if (pipelined > MAX_PIPELINED) return
    const previous = connections.unfinishedResponseOf(socket)
    const connectionClass = connections.requestBegan(request, response, () => {
      if (!server.listening) socket.end()
    })
    if (!server.listening) response.shouldKeepAlive = false
    request.url = originForm(request.url ?? '')
    const problem =
      headProblem(request.url, request.rawHeaders) ??
      (pipelined === MAX_PIPELINED ? pipelinedTooMany : undefined) ??
      (connectionClass === 'reserve' && !probePaths.includes(pathOf(request.url)) ? noRoom : undefined)
    if (problem !== undefined) return refuse(response, problem, refusalForm)
    if (connectionClass === 'reserve') response.shouldKeepAlive = false
    startAfter(previous, socket, () => handler(request, response))
  })
  server.on('connect', (_request, socket) =>
    connections.end(socket as Socket, refusalText(noTunnel, refusalForm, { Allow: 'GET' })),
  )
  server.on('timeout', (socket) => {
    const responses = connections.responsesOf(socket)
    // While a handler works, nothing is sent or received either, and that is not the client's fault.
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

  const close = async (giveUp?: AbortSignal): Promise<void> => {
    if (server.listening) server.close()
    const cut = () => server.closeAllConnections()
    if (giveUp?.aborted) cut()
    else giveUp?.addEventListener('abort', cut, { once: true })
    // Node's own notion of idle leaves out connections that never sent a byte, such as a browser opens ahead.
    connections.destroyWithoutRequest()
    for (const response of connections.unfinished()) if (!response.headersSent) response.shouldKeepAlive = false
    await closed
    giveUp?.removeEventListener('abort', cut)
  }

  return {
    host: bound.address,
    port: bound.port,
    url: `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close,
  }
}

/** Tells whether the client would take an answer written now for the answer to the broken request, not to one before it. */
function mayAnswerBroken(responses: ReadonlySet<ServerResponse>): boolean {
  const [current, ...further] = responses
  if (current === undefined) return true
  return further.length === 0 && !current.headersSent && !current.req.complete
}

/**
 * Starts the work on a request once the answer before it is sent, so that a connection holds one answer at a time however
 * many requests it sends ahead and however slowly it reads. Does nothing if the connection ends with that answer.
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
    }, LOG_EVERY_MS).unref()
    const { fields, message } = lineOf(source)
    log.warn(fields, message)
  }
}
