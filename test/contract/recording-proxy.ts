import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'

/** A TCP proxy between nginx and the gateway that records the bytes that nginx sends. */
export class RecordingProxy {
  sent = ''
  readonly #server: Server
  readonly #port: number

  constructor(port: number) {
    this.#port = port
    this.#server = createServer((socket) => {
      const onward = connect(this.#port, '127.0.0.1')
      socket.on('data', (part) => {
        this.sent += part.toString('latin1')
      })
      socket.pipe(onward).pipe(socket)
      for (const end of [socket, onward]) end.on('error', () => {})
      socket.on('close', () => onward.destroy())
      onward.on('close', () => socket.destroy())
    })
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
  }
}
