import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Random } from '@penstock/runtime'
import { IngestRequest } from './http-request.ts'
import { connectionOf } from './listener-connection.ts'
import type { Refusal } from './refusals.ts'
import { RefusalWriter } from './reply.ts'

/** How long a client that was told off may take to read it. */
const FINAL_RESPONSE_GRACE_MS = 2_000

/** Understands HTTP/1 on sockets that someone else accepts and watches over: it has no time limits of its own. */
export function http1Server(
  onRequest: (request: IngestRequest, response: ServerResponse) => void,
  random: Random,
): Server {
  const refusals = new RefusalWriter(random)
  const server = createServer({
    IncomingMessage: IngestRequest,
    insecureHTTPParser: false,
    requireHostHeader: false,
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
  })
  server.timeout = 0
  // Node would leave out all headers after the thousandth, Content-Length and Authorization among them. Bytes are bounded.
  server.maxHeadersCount = 0
  server.on('request', onRequest)
  // A tunnel is no path of ours, whatever it is to.
  server.on('connect', (_request, socket) => {
    const refusal: Refusal = { kind: 'method_not_allowed', message: 'Only POST is served here.' }
    writeFinalResponse(socket as Socket, refusals, refusal, 'allow: POST, OPTIONS\r\n')
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connectionOf(socket as Socket)
    // The second is the end of the stream in the middle of a request: gone, not broken.
    if (error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE' || !socket.writable) {
      socket.destroy()
    } else if (connection.hasSentClose) {
      connection.cutAfter(FINAL_RESPONSE_GRACE_MS)
    } else if (connection.bodyReceiver !== undefined) {
      connection.bodyReceiver.onBroken()
    } else if (connection.hasRequests) {
      // What was written now would be taken for the reply to a request before this one.
      socket.destroy()
    } else {
      const refusal: Refusal = { kind: 'bad_request', message: 'This is not a request in HTTP/1.1.' }
      writeFinalResponse(socket as Socket, refusals, refusal, '')
    }
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
