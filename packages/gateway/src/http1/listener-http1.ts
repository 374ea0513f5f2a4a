import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Random } from '@penstock/runtime'
import { connectionOf } from '../connections/listener-connection.ts'
import type { Refusal } from '../contract/refusals.ts'
import { RefusalWriter } from '../http/reply.ts'
import { deliversLate, requestClass } from '../node-internals/request-bodies.ts'

/** The time that a client has to read the final response before the connection is cut. */
const FINAL_RESPONSE_GRACE_MS = 2_000

/** Returns an HTTP/1 server for sockets of the listener. It has no timeouts, because the listener enforces them. */
export function http1Server(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  random: Random,
): Server {
  const refusals = new RefusalWriter(random)
  const server = createServer({
    IncomingMessage: requestClass(),
    insecureHTTPParser: false,
    requireHostHeader: false,
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
  })
  server.timeout = 0
  // By default Node drops all headers after the thousandth, possibly Content-Length. The size of the head is limited
  // anyway.
  server.maxHeadersCount = 0
  server.on('request', onRequest)
  // Only requests of Node's own class are reported as these events, and would otherwise be answered by Node.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  // CONNECT is not supported.
  server.on('connect', (_request, socket) => {
    const refusal: Refusal = { kind: 'method_not_allowed', message: 'Only POST is allowed here.' }
    writeFinalResponse(socket as Socket, refusals, refusal, 'allow: POST, OPTIONS\r\n')
  })
  const onClientError = (error: NodeJS.ErrnoException, socket: Duplex) => {
    const connection = connectionOf(socket as Socket)
    // The second code means that the stream ended within a request: the client has gone.
    if (error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE' || !socket.writable) {
      socket.destroy()
    } else if (connection.hasSentClose) {
      connection.cutAfter(FINAL_RESPONSE_GRACE_MS)
    } else if (connection.bodyReceiver !== undefined) {
      connection.bodyReceiver.onBroken()
    } else if (connection.hasRequests) {
      // A response now would be taken for the reply to an earlier request.
      socket.destroy()
    } else {
      const refusal: Refusal = { kind: 'bad_request', message: 'This is not an HTTP/1.1 request.' }
      writeFinalResponse(socket as Socket, refusals, refusal, '')
    }
  }
  server.on('clientError', (error, socket) => {
    // What was read before the fault is delivered first.
    if (deliversLate()) setImmediate(onClientError, error, socket)
    else onClientError(error, socket)
  })
  return server
}

function writeFinalResponse(socket: Socket, refusals: RefusalWriter, refusal: Refusal, extra: string): void {
  const { status, headers, body } = refusals.refusalReply(refusal, 'json')
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
  connectionOf(socket).cutAfter(FINAL_RESPONSE_GRACE_MS)
  socket.end(Buffer.concat([Buffer.from(`${head}${extra}connection: close\r\n\r\n`), body ?? Buffer.alloc(0)]))
}
