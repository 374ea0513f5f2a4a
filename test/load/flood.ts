/**
 * Sends a million wrong tokens beside valid clients. All valid requests must be accepted with almost the same latency, and
 * the gateway must store nothing about wrong tokens (T-11, T-12). It takes about three minutes.
 */
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { atMost, type Bound, reportBounds } from './bounds.ts'
import { collectable, collectedMemory } from './gateway/collected-memory.ts'
import { startLoad } from './gateway/load-process.ts'
import { startPenstockGateway } from './gateway/penstock.ts'
import { processMemory } from './gateway/process-memory.ts'
import { processorWaitSeconds } from './gateway/processor-wait.ts'
import type { RawLoadResult } from './gateway/raw-load.ts'
import { startScript } from './gateway/subjects.ts'
import { idOfToken, stockTokens } from './gateway/token-stock.ts'
import { median } from './measure.ts'

const PAIRS = 3
const WRONG_PER_SECOND = 16_700
const FIRST_WRONG = 100_000
const WRONG_PER_PAIR = 300_000
const VALID_PER_SECOND = 500
/** The number of connections. It is so high that no connection gets a request before its last answer, because exporters do not pipeline. */
const VALID_CONNECTIONS = 250
/** The number of valid, of expired, and of revoked tokens. */
const KNOWN_TOKENS = 100
const BODY_BYTES = 2 * 1024
const DAY_MS = 86_400_000

interface Phase {
  readonly valid: RawLoadResult
  readonly wrong: RawLoadResult | undefined
  readonly cpuSeconds: number
  /** The time during which other processes used the processors. */
  readonly waitedSeconds: number
  readonly residentMiB: number
}

/** The number of floods so far, which is the seed of their wrong tokens. */
let floods = 0
const dataDir = mkdtempSync(join(tmpdir(), 'penstock-flood-'))
const logFile = join(dataDir, 'log')
const nowMs = Date.now()
const valid = await stockTokens(dataDir, { count: KNOWN_TOKENS })
const known = {
  validIds: valid.map(idOfToken),
  expired: await stockTokens(dataDir, { count: KNOWN_TOKENS, expiresAtMs: nowMs - DAY_MS }),
  revoked: await stockTokens(dataDir, { count: KNOWN_TOKENS, revokedAtMs: nowMs - DAY_MS }),
}
const sink = await startScript('sink.js')
const gateway = await startPenstockGateway(
  'penstock',
  `http://127.0.0.1:${sink.httpPort}`,
  { PENSTOCK_DATA_DIR: dataDir, ...collectable },
  [],
  openSync(logFile, 'w'),
)
try {
  const phases: { quiet: Phase; flooded: Phase }[] = []
  const first = await phase(FIRST_WRONG)
  printPhase('first', first)
  // Memory is collected only at the end: a collection also drops compiled code, which would affect the next seconds.
  const keptAfterFirst = await collectedMemory(gateway.pid, logFile)
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const quiet = await phase(0)
    printPhase('quiet', quiet)
    const flooded = await phase(WRONG_PER_PAIR)
    printPhase('flood', flooded)
    phases.push({ quiet, flooded })
  }
  const keptAfterAll = await collectedMemory(gateway.pid, logFile)
  reportBounds(`${FIRST_WRONG + PAIRS * WRONG_PER_PAIR} wrong tokens, load average ${loadavg()[0]!.toFixed(2)}`, [
    ...bounds(first, phases),
    atMost('memory in use after all, beyond the first', keptAfterAll.inUseMiB - keptAfterFirst.inUseMiB, 10, 'MiB'),
    atMost('resident after all, beyond the first', keptAfterAll.residentMiB - keptAfterFirst.residentMiB, 10, 'MiB'),
    { what: 'resident after all', measured: `${keptAfterAll.residentMiB.toFixed(1)} MiB` },
    { what: 'lines in the log', measured: String(readFileSync(logFile, 'utf8').split('\n').length - 1) },
  ])
} finally {
  await gateway.stop()
  await sink.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

/** Sends valid requests for the time that `wrongCount` wrong ones take. */
async function phase(wrongCount: number): Promise<Phase> {
  const seconds = (wrongCount || WRONG_PER_PAIR) / WRONG_PER_SECOND
  const common = { port: gateway.httpPort, warmUpPort: sink.httpPort, bodyBytes: BODY_BYTES }
  const before = gateway.cpuSeconds()
  const waitedBefore = processorWaitSeconds(gateway.pid)
  const [validResult, wrong] = await Promise.all([
    startLoad({
      ...common,
      perSecond: VALID_PER_SECOND,
      count: Math.round(VALID_PER_SECOND * seconds),
      connections: VALID_CONNECTIONS,
      tokens: { valid },
    }),
    wrongCount === 0
      ? undefined
      : startLoad({
          ...common,
          perSecond: WRONG_PER_SECOND,
          count: wrongCount,
          connections: 64,
          together: 4,
          tokens: { wrong: known, seed: ++floods },
        }),
  ])
  const cpuSeconds = gateway.cpuSeconds() - before
  const waitedSeconds = processorWaitSeconds(gateway.pid) - waitedBefore
  const { residentMiB } = processMemory(gateway.pid)
  return {
    valid: validResult,
    wrong,
    cpuSeconds,
    waitedSeconds,
    residentMiB,
  }
}

function bounds(first: Phase, pairs: readonly { quiet: Phase; flooded: Phase }[]): Bound[] {
  const all = [first, ...pairs.flatMap(({ quiet, flooded }) => [quiet, flooded])]
  const notAccepted = all
    .map(({ valid }) => valid)
    .reduce((sum, { answers, unanswered }) => sum + others(answers, '200') + unanswered, 0)
  const floodsOfAll = all.flatMap(({ wrong }) => wrong ?? [])
  const notRefused = floodsOfAll.reduce((sum, { answers, unanswered }) => sum + others(answers, '401') + unanswered, 0)
  const quietP99Ms = median(pairs.map(({ quiet }) => quiet.valid.p99Ms))
  const floodP99Ms = median(pairs.map(({ flooded }) => flooded.valid.p99Ms))
  const refusalMicros = pairs.map(
    ({ quiet, flooded }) => ((flooded.cpuSeconds - quiet.cpuSeconds) * 1e6) / WRONG_PER_PAIR,
  )
  const slowest = Math.min(...floodsOfAll.map(({ seconds, answers }) => (answers['401'] ?? 0) / seconds))
  return [
    atMost('valid requests not accepted', notAccepted, 0, 'requests', 0),
    atMost('wrong ones not refused with 401', notRefused, 0, 'requests', 0),
    { what: 'p99 of the valid ones, quiet', measured: `${quietP99Ms.toFixed(1)} ms` },
    atMost('p99 of the valid ones, flooded', floodP99Ms, 25, 'ms'),
    atMost('flooded / quiet', floodP99Ms / quietP99Ms, 2, 'times', 2),
    {
      what: 'longest the gateway waited for a processor, in one flood',
      measured: `${Math.max(...pairs.map(({ flooded }) => flooded.waitedSeconds)).toFixed(1)} s`,
    },
    { what: 'resident after all, before a collection', measured: `${all.at(-1)!.residentMiB.toFixed(1)} MiB` },
    atMost('CPU per refused request', median(refusalMicros), 100, 'µs'),
    {
      what: 'wrong tokens a second, slowest flood',
      measured: slowest.toFixed(0),
      bound: `≥ ${WRONG_PER_SECOND * 0.95}`,
      isMet: slowest >= WRONG_PER_SECOND * 0.95,
    },
  ]
}

function others(answers: RawLoadResult['answers'], wanted: string): number {
  return Object.entries(answers).reduce((sum, [status, count]) => sum + (status === wanted ? 0 : count), 0)
}

function printPhase(name: string, { valid, wrong, cpuSeconds, waitedSeconds, residentMiB }: Phase): void {
  const { answers, p50Ms, p99Ms, maxMs, lateP99Ms } = valid
  console.log(
    `${name}: valid ${JSON.stringify(answers)} p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} max ${maxMs.toFixed(1)} ms` +
      ` (sent late by up to ${lateP99Ms.toFixed(2)} ms at p99), ` +
      (wrong
        ? `wrong ${JSON.stringify(wrong.answers)} in ${wrong.seconds.toFixed(1)} s p99 ${wrong.p99Ms.toFixed(1)} ms, `
        : '') +
      `CPU ${cpuSeconds.toFixed(2)} s, waited for one ${waitedSeconds.toFixed(2)} s, ${residentMiB.toFixed(1)} MiB`,
  )
}
