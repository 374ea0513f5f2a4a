/**
 * Measures the cost of 100,000 tokens compared with a few: start, memory, each request, and a revocation, which reads all of
 * them again (T-10, T-13). It takes about two minutes.
 */
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, reportBounds } from './bounds.ts'
import { collectable, collectedMemory } from './gateway/collected-memory.ts'
import { type LoadOrder, startLoad } from './gateway/load-process.ts'
import { type Penstock, startPenstockGateway } from './gateway/penstock.ts'
import { processMemory } from './gateway/process-memory.ts'
import { startScript } from './gateway/subjects.ts'
import { idOfToken, stockTokens } from './gateway/token-stock.ts'
import { median } from './measure.ts'

const MANY = 100_000
const STARTS = 3
const ROUNDS = 3
const REVOCATIONS = 8
const REVOKE_EVERY_MS = 1_500
const MEGABYTES_PER_MIB = 1.048_576

const directory = mkdtempSync(join(tmpdir(), 'penstock-tokens-'))
const sink = await startScript('sink.js')
const few = await prepared('few', 1)
const many = await prepared('many', MANY)
try {
  const startMs = { few: median(few.startsMs), many: median(many.startsMs) }

  await load(few.gateway, few.tokens.slice(0, 1))
  await load(many.gateway, many.tokens.slice(0, 1))
  const memoryMiB = {
    few: (await collectedMemory(few.gateway.pid, few.log)).residentMiB,
    many: (await collectedMemory(many.gateway.pid, many.log)).residentMiB,
  }

  const cpu: Record<'few' | 'oneOfMany' | 'anyOfMany', number[]> = { few: [], oneOfMany: [], anyOfMany: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    cpu.few.push(await load(few.gateway, few.tokens))
    cpu.oneOfMany.push(await load(many.gateway, many.tokens.slice(0, 1)))
  }
  for (let round = 0; round < ROUNDS; round += 1) cpu.anyOfMany.push(await load(many.gateway, many.tokens))

  const quiet = await startLoad(valid(many.gateway, many.tokens.slice(0, 1)))
  const revoking = await whileRevoking()
  const { peakMiB } = processMemory(many.gateway.pid)

  reportBounds(`${MANY} tokens, load average ${loadavg()[0]!.toFixed(2)}`, [
    { what: 'start with a handful', measured: `${startMs.few.toFixed(0)} ms` },
    { what: 'start with all', measured: `${startMs.many.toFixed(0)} ms` },
    atMost('loading them', startMs.many - startMs.few, 2_000, 'ms', 0),
    { what: 'memory kept with a handful', measured: `${memoryMiB.few.toFixed(1)} MiB` },
    atMost('memory they take', (memoryMiB.many - memoryMiB.few) * MEGABYTES_PER_MIB, 100, 'MB'),
    { what: 'peak, revocations included', measured: `${peakMiB.toFixed(1)} MiB` },
    { what: 'CPU per request, a handful', measured: `${median(cpu.few).toFixed(0)} µs` },
    { what: 'CPU per request, always the same one', measured: `${median(cpu.oneOfMany).toFixed(0)} µs` },
    { what: 'CPU per request, any of them', measured: `${median(cpu.anyOfMany).toFixed(0)} µs` },
    atMost('a revocation until it is answered, slowest', Math.max(...revoking.answeredMs), 2_000, 'ms', 0),
    { what: 'a revocation, median', measured: `${median(revoking.answeredMs).toFixed(0)} ms` },
    atMost('requests let in with a revoked token', revoking.letIn, 0, 'requests', 0),
    { what: 'p99 / slowest, quiet', measured: `${quiet.p99Ms.toFixed(1)} / ${quiet.maxMs.toFixed(0)} ms` },
    {
      what: 'p99 / slowest, while revoking',
      measured: `${revoking.beside.p99Ms.toFixed(1)} / ${revoking.beside.maxMs.toFixed(0)} ms`,
    },
    atMost('not accepted in between', revoking.notAccepted, 0, 'requests', 0),
  ])
} finally {
  await few.gateway.stop()
  await many.gateway.stop()
  await sink.stop()
  rmSync(directory, { recursive: true, force: true })
}

/** Creates a store with `count` tokens, and starts a gateway on it a few times. */
async function prepared(name: string, count: number) {
  const dataDir = join(directory, name)
  const log = join(directory, `${name}.log`)
  const tokens = await stockTokens(dataDir, { count })
  const startsMs: number[] = []
  for (let start = 1; ; start += 1) {
    const env = { PENSTOCK_DATA_DIR: dataDir, PENSTOCK_TOKEN_LIMIT: String(2 * MANY), ...collectable }
    const sinkUrl = `http://127.0.0.1:${sink.httpPort}`
    const gateway = await startPenstockGateway(name, sinkUrl, env, [], openSync(log, 'w'))
    startsMs.push(gateway.startMs)
    if (start === STARTS) return { gateway, tokens, startsMs, log }
    await gateway.stop()
  }
}

function valid(gateway: Penstock, tokens: readonly string[], perSecond = 500, seconds = 10): LoadOrder {
  const count = perSecond * seconds
  return { port: gateway.httpPort, perSecond, count, connections: 250, bodyBytes: 2_048, tokens: { valid: tokens } }
}

/** Returns the CPU time per request in microseconds. */
async function load(gateway: Penstock, tokens: readonly string[]): Promise<number> {
  const before = gateway.cpuSeconds()
  const order = valid(gateway, tokens, 1_000, 5)
  const { answers } = await startLoad(order)
  if (answers['200'] !== order.count) throw new Error(`answered ${JSON.stringify(answers)}`)
  return ((gateway.cpuSeconds() - before) * 1e6) / order.count
}

async function whileRevoking() {
  const { gateway, tokens } = many
  const seconds = 2 + (REVOCATIONS * REVOKE_EVERY_MS) / 1_000
  const order = valid(gateway, tokens.slice(0, 1), 500, seconds)
  const loading = startLoad(order)
  const answeredMs: number[] = []
  let letIn = 0
  for (const token of tokens.slice(-REVOCATIONS)) {
    await sleep(REVOKE_EVERY_MS)
    const startMs = performance.now()
    await gateway.call('DELETE', `/ingest_auth/tokens/${idOfToken(token)}`)
    answeredMs.push(performance.now() - startMs)
    if ((await statusOf(gateway, token)) !== 401) letIn += 1
  }
  const beside = await loading
  return { answeredMs, letIn, beside, notAccepted: order.count - (beside.answers['200'] ?? 0) }
}

async function statusOf({ httpPort }: Penstock, token: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${httpPort}/v1/traces`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: '{}',
  })
  await response.arrayBuffer()
  return response.status
}
