import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Gate } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { CountingSink } from './counting-sink.ts'
import { idOf, numberedBody } from './numbered-body.ts'
import { ProcessGateway } from './process-gateway.ts'
import { WorkerConnection } from './worker-connection.ts'

const WORKERS = 3
/** The primary process counts too: it checks forward-auth requests and applies changes like a worker. */
const INSTANCES = WORKERS + 1
/** The time within which a change must reach every process (T-13). */
const BOUND_MS = 2_000

const start = (upstream: string) => ProcessGateway.start({ upstream, args: ['--workers', String(WORKERS)] })

if (process.platform !== 'linux') console.warn('skipped: "workers" reads /proc to find the worker of a connection')

describe.runIf(process.platform === 'linux')('workers', () => {
  test('T-13: each change reaches each worker within 2 s, and through the API before its answer', async () => {
    await using sink = await CountingSink.start()
    await using gateway = await start(sink.url)
    const connections = await WorkerConnection.toEach(gateway)
    await gateway.token({ name: 'kept' })
    await gateway.enforce(true)

    const inProcessMs: number[] = []
    for (let change = 0; change < 20; change += 1) {
      const isRevocation = change % 2 === 0
      const { id, token } = await gateway.token()
      expect(await statuses(connections, token)).toEqual([200, 200, 200])
      const startMs = performance.now()
      if (isRevocation) {
        expect((await gateway.call('DELETE', `/tokens/${id}`)).status).toBe(204)
        expect(await statuses(connections, token)).toEqual([401, 401, 401])
        inProcessMs.push(performance.now() - startMs)
      } else {
        const state = await gateway.enforce(false)
        expect(state.propagation).toEqual({ instances: INSTANCES, applied: INSTANCES })
        expect(await statuses(connections, undefined)).toEqual([200, 200, 200])
        inProcessMs.push(performance.now() - startMs)
        await gateway.enforce(true)
        expect(await statuses(connections, undefined)).toEqual([401, 401, 401])
      }
    }

    // Changes of another process, which the workers notice only by polling.
    const polledMs: number[] = []
    const env = { PENSTOCK_DATA_DIR: gateway.dataDir }
    for (let change = 0; change < 10; change += 1) {
      const { id, token } = await gateway.token()
      let obeyedMs = 0
      const startMs = performance.now()
      const revoked = penstock(['token', 'revoke', id], { env })
      await Promise.all(
        connections.map(async (connection) => {
          while ((await connection.export(idOf(1), token)) !== 401) await sleep(10)
          obeyedMs = Math.max(obeyedMs, performance.now() - startMs)
        }),
      )
      expect((await revoked).exitCode).toBe(0)
      polledMs.push(obeyedMs)
    }
    console.log(
      `propagation to ${WORKERS} workers: through the API ${spread(inProcessMs)}; by polling ${spread(polledMs)}`,
    )
    expect(Math.max(...inProcessMs, ...polledMs)).toBeLessThanOrEqual(BOUND_MS)
    for (const connection of connections) connection.close()
  })

  test('O-1, O-2: /metrics is the sum of the workers', async () => {
    await using sink = await CountingSink.start()
    await using gateway = await start(sink.url)
    const { token } = await gateway.token()
    await gateway.enforce(true)
    // These exports get 401, from the workers that are being identified.
    const connections = await WorkerConnection.toEach(gateway)
    const before = await totals(gateway)
    for (const [index, connection] of connections.entries()) {
      for (let sent = 0; sent <= index; sent += 1) expect(await connection.export(idOf(1), token)).toBe(200)
    }
    await connections[0]!.export(idOf(1), undefined)
    const after = await totals(gateway)
    expect(after.allow - before.allow).toBe(1 + 2 + 3)
    expect(after.reject - before.reject).toBe(1)
    expect(after.mode).toBe(3)
    expect(await gateway.page('/readyz')).toEqual({ status: 200, text: 'ready\n' })
    for (const connection of connections) connection.close()
  })

  test('a killed worker is replaced, and the new one has the current state', async () => {
    await using sink = await CountingSink.start()
    await using gateway = await start(sink.url)
    const { token } = await gateway.token()
    await gateway.enforce(true)
    const earlier = await WorkerConnection.toEach(gateway)
    const victim = earlier[0]!.workerPid
    for (let sent = 0; sent < 5; sent += 1) expect(await earlier[0]!.export(idOf(1), token)).toBe(200)
    const before = await totals(gateway)
    for (const connection of earlier) connection.close()
    process.kill(victim, 'SIGKILL')
    await expect.poll(() => gateway.workerPids().filter((pid) => pid !== victim).length).toBe(WORKERS)
    await expect.poll(() => gateway.page('/readyz')).toEqual({ status: 200, text: 'ready\n' })
    // Its counts are kept (O-2).
    const after = await totals(gateway)
    expect([after.allow, after.reject]).toEqual([before.allow, before.reject])
    const connections = await WorkerConnection.toEach(gateway)
    expect(await statuses(connections, token)).toEqual([200, 200, 200])
    expect(await statuses(connections, undefined)).toEqual([401, 401, 401])
    const ended = gateway.stderr.split('\n').filter((line) => line.includes('"worker.ended"'))
    expect(ended.map((line) => JSON.parse(line))).toMatchObject([{ pid: victim, signal: 'SIGKILL' }])
    for (const connection of connections) connection.close()
    // The dead worker is treated as live until it has been silent for 10 s.
    await expect
      .poll(async () => (await gateway.enforce(true)).propagation, { interval: 500 })
      .toEqual({ instances: INSTANCES, applied: INSTANCES })
  })

  test('X-15: SIGTERM ends all processes with 0 after the requests in flight are answered', async () => {
    await using sink = await CountingSink.start()
    await using gateway = await start(sink.url)
    const pids = gateway.workerPids()
    const connections = await WorkerConnection.toEach(gateway)
    const upstream = new Gate()
    sink.hold = upstream.opened
    const answers = Promise.all(connections.map((connection, index) => connection.export(idOf(10 + index), undefined)))
    await Promise.all(connections.map((_, index) => sink.arrived(idOf(10 + index))))
    gateway.kill('SIGTERM')
    await expect.poll(async () => (await gateway.page('/readyz')).text).toBe('not ready: draining\n')
    await expect.poll(() => isRefused(gateway.ports.http)).toBe(true)
    upstream.open()
    expect(await answers).toEqual([200, 200, 200])
    expect(await gateway.exited()).toBe(0)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('forward-auth requests are checked in the primary process, with the same state as in the workers', async () => {
    await using sink = await CountingSink.start()
    await using gateway = await start(sink.url)
    const { id, token } = await gateway.token()
    await gateway.token({ name: 'another' })
    await gateway.enforce(true)
    const verdict = async () => {
      const response = await fetch(`${gateway.managementUrl}/forward-auth?proxy=nginx`, {
        headers: { 'x-original-uri': '/v1/traces', authorization: `Bearer ${token}` },
      })
      return [response.status, response.headers.get('x-ingest-token-id')]
    }
    expect(await verdict()).toEqual([200, id])
    await gateway.call('DELETE', `/tokens/${id}`)
    expect(await verdict()).toEqual([401, null])
  })
})

const statuses = (connections: readonly WorkerConnection[], token: string | undefined) =>
  Promise.all(connections.map((connection) => connection.export(idOf(1), token)))

function spread(valuesMs: readonly number[]): string {
  const sorted = valuesMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0)
  return `n=${sorted.length}, p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, max ${at(1)} ms`
}

async function totals(gateway: ProcessGateway): Promise<{ allow: number; reject: number; mode: number }> {
  const { text } = await gateway.page('/metrics')
  const sum = (pattern: RegExp) => {
    const rows = text.split('\n').filter((line) => pattern.test(line))
    return rows.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
  }
  return {
    allow: sum(/^otelcol_ingestauth_decisions.*decision="allow"/),
    reject: sum(/^otelcol_ingestauth_decisions.*decision="reject"/),
    mode: sum(/^otelcol_ingestauth_enforcement_mode/),
  }
}

async function isRefused(port: number): Promise<boolean> {
  const attempt = request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/traces', agent: false })
  attempt.end(numberedBody(idOf(99)))
  try {
    const [response] = await once(attempt, 'response')
    response.resume()
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  }
}
