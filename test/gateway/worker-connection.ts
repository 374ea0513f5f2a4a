import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { numberedBody } from './numbered-body.ts'
import type { ProcessGateway } from './process-gateway.ts'

/** A persistent HTTP/1.1 connection to a known worker. Linux only, because the worker is found in /proc. */
export class WorkerConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #port: number
  #socket: Socket | undefined
  workerPid = 0

  /** Opens one connection to each worker. The operating system chooses the worker of a connection, so several are tried. */
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

  /** Exports with or without a token, and returns the status. Throws if another connection was used. */
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

/** Returns whether the process has the other end of the connection from `localPort`. */
function holdsConnection(pid: number, localPort: number): boolean {
  const hexPort = localPort.toString(16).toUpperCase().padStart(4, '0')
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)
  const row = rows.map((line) => line.trim().split(/\s+/)).find(([, , remote]) => remote?.endsWith(`:${hexPort}`))
  const inode = row?.[9]
  if (inode === undefined) return false
  return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
}

/** Returns the target of a link, or `undefined` if the descriptor has been closed in the meantime. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
