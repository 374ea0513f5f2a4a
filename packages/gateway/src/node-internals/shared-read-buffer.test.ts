import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { SharedReadBuffer } from './shared-read-buffer.ts'

interface Open {
  readonly server: Server
  /** The sockets after `adopt`, in the order of their connections. */
  readonly sockets: Socket[]
  /** The pieces that each of them has emitted. */
  readonly pieces: Buffer[][]
  connect(): Promise<Socket>
}

const opened: { server: Server; clients: Socket[] }[] = []

afterEach(() => {
  for (const { server, clients } of opened.splice(0)) {
    for (const client of clients) client.destroy()
    server.close()
  }
})

async function open(prepare: (accepted: Socket) => void = () => {}): Promise<Open> {
  const reads = new SharedReadBuffer()
  const [sockets, pieces, clients]: [Socket[], Buffer[][], Socket[]] = [[], [], []]
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (accepted) => {
    prepare(accepted)
    const socket = reads.adopt(accepted)
    const own: Buffer[] = []
    sockets.push(socket)
    pieces.push(own)
    socket.on('data', (piece: Buffer) => own.push(piece))
    socket.on('end', () => socket.end())
  })
  opened.push({ server, clients })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connectClient = async () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    clients.push(client)
    await Promise.all([once(client, 'connect'), once(server, 'connection')])
    return client
  }
  return { server, sockets, pieces, connect: connectClient }
}

const textOf = (pieces: readonly Buffer[] | undefined): string => Buffer.concat(pieces ?? []).toString()

/** Sends a text and waits until the socket with this index has emitted all it was sent. */
async function sent({ sockets, pieces }: Open, client: Socket, index: number, text: string): Promise<void> {
  const before = textOf(pieces[index]).length
  client.write(text)
  while (textOf(pieces[index]).length < before + text.length) await once(sockets[index]!, 'data')
}

test('Pieces keep their bytes when other connections are read', async () => {
  const own = await open()
  const [one, other] = [await own.connect(), await own.connect()]
  await sent(own, one, 0, 'a'.repeat(100))
  await sent(own, other, 1, 'b'.repeat(200_000))
  await sent(own, one, 0, 'c')
  expect(textOf(own.pieces[0])).toBe(`${'a'.repeat(100)}c`)
  expect(textOf(own.pieces[1])).toBe('b'.repeat(200_000))
})

test('A piece holds at most 64 times its length, or the pool of Buffer.allocUnsafe', async () => {
  const own = await open()
  const client = await own.connect()
  for (const bytes of [1, 511, 512, 2_000, 8_192, 8_193, 40_000]) {
    const before = own.pieces[0]!.length
    await sent(own, client, 0, 'x'.repeat(bytes))
    for (const { length, buffer } of own.pieces[0]!.slice(before)) {
      expect(buffer.byteLength).toBeLessThanOrEqual(Math.max(64 * length, Buffer.poolSize))
    }
  }
})

test('A paused socket emits nothing until it is resumed', async () => {
  const own = await open()
  const client = await own.connect()
  await sent(own, client, 0, 'first')
  const [socket] = own.sockets
  socket!.pause()
  client.write('second')
  // A round trip over another connection is read after what was sent before.
  await sent(own, await own.connect(), 1, 'marker')
  expect(textOf(own.pieces[0])).toBe('first')
  socket!.resume()
  await once(socket!, 'data')
  expect(textOf(own.pieces[0])).toBe('firstsecond')
})

test('The server is closed when the last socket is', async () => {
  const own = await open()
  const client = await own.connect()
  await sent(own, client, 0, 'x')
  let isClosed = false
  const closed = new Promise<void>((resolve) => {
    own.server.close(() => {
      isClosed = true
      resolve()
    })
  })
  await sent(own, client, 0, 'y')
  expect(isClosed).toBe(false)
  client.end()
  await closed
  expect(own.sockets[0]!.destroyed).toBe(true)
})

test('A socket is returned itself, and is read, if its handle cannot read into a buffer', async () => {
  const accepted: Socket[] = []
  const own = await open((socket) => {
    accepted.push(socket)
    const handle = (socket as unknown as { _handle: object })._handle
    Object.defineProperty(handle, 'useUserBuffer', { value: undefined })
  })
  const client = await own.connect()
  await sent(own, client, 0, 'text')
  expect(own.sockets[0]).toBe(accepted[0])
  expect(textOf(own.pieces[0])).toBe('text')
})

test('A socket of this version of Node is read into the buffer', async () => {
  const accepted: Socket[] = []
  const own = await open((socket) => accepted.push(socket))
  await own.connect()
  expect(own.sockets[0]).toBeInstanceOf(Socket)
  expect(own.sockets[0]).not.toBe(accepted[0])
})
