import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ClickHouseAddress } from '@penstock/observe'
import { describe } from 'vitest'

/** Returns the Python that has chdb, if it is installed. */
const pythonFor = (directory: string): string =>
  execFileSync(process.execPath, [join(directory, 'prepare.mjs'), '--print-path'], { encoding: 'utf8' }).trim()

/** Declares a suite that needs ClickHouse's engine. Without it, the suite is skipped, but fails with `CI` set. */
export function describeWithChdb(name: string, suite: () => void): void {
  const isInstalled = existsSync(join(dirname(dirname(pythonFor(import.meta.dirname))), 'complete'))
  if (isInstalled) return void describe(name, suite)
  const reason = 'needs chdb ("node test/clickhouse/prepare.mjs" installs it; takes Python)'
  if (process.env.CI) throw new Error(reason)
  console.warn(`skipped: ${name} ${reason}`)
  describe.skip(name, suite)
}

const USER = 'owner'
const VIEWER = 'viewer'
const PASSWORD = 'only-for/tests'

/** ClickHouse's engine behind its HTTP interface, with its data in a temporary directory. */
export class Chdb {
  readonly address: ClickHouseAddress
  /** The same database for a user who may only read. */
  readonly readOnlyAddress: ClickHouseAddress
  readonly #process: ChildProcess
  readonly #directory: string

  /** @param sources the directory with the server; programs that are built elsewhere have to name it */
  static async start(sources: string = import.meta.dirname): Promise<Chdb> {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-chdb-'))
    const child = spawn(pythonFor(sources), [join(sources, 'server.py'), directory, USER, VIEWER, PASSWORD], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [port] = (await Promise.race([
      once(createInterface(child.stdout!), 'line'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`the server of chdb ended with ${code}`)
      }),
    ])) as [string]
    return new Chdb(child, directory, Number(port))
  }

  private constructor(child: ChildProcess, directory: string, port: number) {
    this.#process = child
    this.#directory = directory
    this.address = { url: `http://127.0.0.1:${port}`, database: 'default', username: USER, password: PASSWORD }
    this.readOnlyAddress = { ...this.address, username: VIEWER }
  }

  /** Runs a statement that changes something; its data, if there are any, are lines of JSON. */
  async run(statement: string, data = ''): Promise<void> {
    const response = await fetch(`${this.address.url}/?query=${encodeURIComponent(statement)}`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}` },
      body: data,
    })
    if (!response.ok) throw new Error(`${statement.slice(0, 200)}: ${await response.text()}`)
    await response.arrayBuffer()
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.stdin!.end()
    await ended
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
