import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { avoided } from './avoided.ts'

/**
 * Passes a connection to node:http, which reads `unread` before what arrives afterwards. node:http reads a socket below its events,
 * but also listens to `data`, which is not documented. The fall-back returns the bytes to the stream of the socket.
 */
export function passToHttp1(server: Server, socket: Socket, unread: Buffer | undefined): void {
  if (unread === undefined) {
    server.emit('connection', socket)
  } else if (avoided['http1-handover']) {
    socket.unshift(unread)
    server.emit('connection', socket)
  } else {
    server.emit('connection', socket)
    socket.emit('data', unread)
  }
}
