import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { numberedBody } from './numbered-body.ts'
import type { ProcessGateway } from './process-gateway.ts'

/** One kept connection of HTTP/1.1 that a certain worker has taken. Linux only: it is looked up in /proc. */
export class WorkerConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #port: number
  #socket: Socket | undefined
  workerPid = 0

  /** One to each worker; the workers get connections in turn, but who takes which is theirs to say. */
  static async toEach(gateway: ProcessGateway): Promise<WorkerConnection[]> {
    const connections = new Map<number, WorkerConnection>()
    const pids = gateway.workerPids()
    for (let tries = 0; connections.size < pids.length; tries += 1) {
      if (tries === 100) throw new Error(`only ${connections.size} of ${pids.length} workers took a connection`)
      const connection = new WorkerConnection(gateway.ports.http)
      await connection.export('n00000000', undefined)
      connection.workerPid = pids.find((pid) => holdsConnection(pid, connection.#socket!.localPort!)) ?? 0
      if (connection.workerPid === 0 || connections.has(connection.workerPid)) connection.close()
      else connections.set(connection.workerPid, connection)
    }
    return [...connections.values()]
  }

  private constructor(port: number) {
    this.#port = port
  }

  /** Status of an export with or without a token. Throws when it had to go over another connection. */
  async export(id: string, token: string | undefined): Promise<number> {
    const sent = request({
      port: this.#port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/traces',
      agent: this.#agent,
      headers: {
        'content-type': 'application/x-protobuf',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    })
    sent.end(numberedBody(id))
    const [response] = await once(sent, 'response')
    response.resume()
    await once(response, 'end')
    if (this.#socket !== undefined && this.#socket !== sent.socket) throw new Error('the connection was replaced')
    this.#socket = sent.socket!
    return response.statusCode
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Whether the process holds the far end of our connection from `localPort`. */
function holdsConnection(pid: number, localPort: number): boolean {
  const hexPort = localPort.toString(16).toUpperCase().padStart(4, '0')
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)
  const row = rows.map((line) => line.trim().split(/\s+/)).find(([, , remote]) => remote?.endsWith(`:${hexPort}`))
  const inode = row?.[9]
  if (inode === undefined) return false
  return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
}

/** Descriptors come and go while we look. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
