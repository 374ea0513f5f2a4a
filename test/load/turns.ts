/**
 * Measures the longest turn of the event loop under the most expensive single requests and answers, for each listener:
 * `npm run soak turns`, or `node test/load/dist/load/turns.js hook record` for some listeners only.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, type Bound, reportBounds } from './bounds.ts'
import { ProbedService, secrets } from './turns/probed-service.ts'
import { addLongTexts, search, searches } from './turns/searches.ts'
import { measureUnread, storeLongLogs, unreadAnswers } from './turns/unread-answers.ts'
import { storeLongTexts, worstAnswers } from './turns/worst-answers.ts'
import { type WorstBody, worstBodies } from './turns/worst-bodies.ts'
import { measureWriter, type WriterMeasurement } from './turns/writer-turns.ts'

const ROUNDS = 3
/** The id of the project that is created first. */
const PROJECT = 1
/** The wait for follow-up work of a request, such as its export, which is part of the measurement. */
const SETTLE_MS = 400
const SEARCH_TURN_MS = 100
const UNREAD_MIB = 256
const UNREAD_TURN_MS = 200
const WRITER_WAIT_MS = 2_000
const QUIET_TURN_MS = 12
const QUIET_TRIES = 50
const REQUEST_TIMEOUT_MS = 60_000

/** Returns the bound on a turn: max(20 ms, 20 ms a megabyte received), and at most 200 ms. */
function boundMs(bytes: number): number {
  return Math.min(200, Math.max(20, (20 * bytes) / 1e6))
}

const listeners = process.argv.slice(2)
const isChosen = ({ listener }: Pick<WorstBody, 'listener'>): boolean =>
  listeners.length === 0 || listeners.some((name) => listener.toLowerCase().startsWith(name.toLowerCase()))

await using service = await ProbedService.start()
await createProject()
const bounds: Bound[] = []
for (const row of worstBodies.filter(isChosen)) bounds.push(await measured(row))
const answers = worstAnswers(PROJECT).filter(isChosen)
if (answers.length > 0 || isChosen({ listener: 'unread' })) await storeLongTexts(service, PROJECT)
if (answers.length > 0 || isChosen({ listener: 'unread' })) await storeLongLogs(service)
for (const row of answers) bounds.push(await measured(row))
if (isChosen({ listener: 'unread' })) bounds.push(...(await measuredUnread()))
if (isChosen({ listener: 'store' })) bounds.push(...(await measuredWriter()))
if (isChosen({ listener: 'search' })) bounds.push(...(await measuredSearches()))
reportBounds(`longest turn, best of ${ROUNDS}`, bounds)

async function measured(row: WorstBody): Promise<Bound> {
  let bestMs = Number.POSITIVE_INFINITY
  let bytes = 0
  const statuses = new Set<number>()
  for (let round = 1; round <= ROUNDS; round++) {
    const body = Buffer.from(row.body(round))
    bytes = body.length
    const url = row.listener === 'record' ? `${row.url(service)}${recordId(body)}` : row.url(service)
    await untilQuiet()
    const turnMs = await service.longestTurnMs(async () => {
      statuses.add(await send(row, url, body))
      await sleep(SETTLE_MS)
    })
    bestMs = Math.min(bestMs, turnMs)
  }
  const what = `${row.listener}: ${row.what}, ${(bytes / 1e6).toFixed(2)} MB (${[...statuses].join(', ')})`
  const bound = atMost(what, bestMs, row.boundMs ?? boundMs(bytes), 'ms')
  console.log(`${bound.isMet ? 'met   ' : 'MISSED'} ${what}: ${bound.measured}`)
  return [...statuses].some((status) => status >= 500) ? { ...bound, isMet: false } : bound
}

async function measuredSearches(): Promise<Bound[]> {
  await addLongTexts(service)
  const measured: Bound[] = []
  for (const row of searches) {
    await untilQuiet()
    const statuses = new Set<number>()
    const turns: number[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      turns.push(await service.longestTurnMs(async () => statuses.add(await search(service, row, REQUEST_TIMEOUT_MS))))
    }
    const what = `search: ${row.what} in 100 MB of texts (${[...statuses].join(', ')})`
    const bound = atMost(what, Math.min(...turns), SEARCH_TURN_MS, 'ms')
    console.log(`${bound.isMet ? 'met   ' : 'MISSED'} ${what}: ${bound.measured}`)
    measured.push([...statuses].some((status) => status >= 500) ? { ...bound, isMet: false } : bound)
  }
  return measured
}

async function measuredUnread(): Promise<Bound[]> {
  const measured: Bound[] = []
  for (const row of unreadAnswers(PROJECT)) {
    await untilQuiet()
    const { statuses, grownMib, turnMs } = await measureUnread(service, row)
    const what = `50 unread answers of ${row.what} (${[...statuses].join(', ')})`
    measured.push(atMost(`${what}: memory`, grownMib, UNREAD_MIB, 'MiB'), atMost(what, turnMs, UNREAD_TURN_MS, 'ms'))
  }
  for (const { what, measured: figure } of measured) console.log(`${what}: ${figure}`)
  return measured
}

/** Measures how long senders wait for the writer of the embedded store while it writes a request of another one. */
async function measuredWriter(): Promise<Bound[]> {
  await untilQuiet()
  let writer: WriterMeasurement | undefined
  const turnMs = await service.longestTurnMs(async () => {
    writer = await measureWriter(service)
  })
  const { bytes, status, others, sentBeside, longestWaitMs } = writer!
  const what = `store: 480,000 spans in ${(bytes / 1024).toFixed(0)} KB of gzip (${status})`
  const beside = `store: ${sentBeside} small requests beside them (${[...others].join(', ')}), the longest wait`
  console.log(`${what}: ${turnMs.toFixed(1)} ms; ${beside}: ${longestWaitMs.toFixed(0)} ms`)
  const wait = atMost(beside, longestWaitMs, WRITER_WAIT_MS, 'ms')
  return [
    atMost(what, turnMs, boundMs(bytes), 'ms'),
    [...others].every((each) => each === 200) ? wait : { ...wait, isMet: false },
  ]
}

/** Waits until the work of earlier requests is done, so that it does not count for the next one. */
async function untilQuiet(): Promise<void> {
  for (let tries = 0; tries < QUIET_TRIES; tries++) {
    if ((await service.longestTurnMs(() => sleep(SETTLE_MS))) < QUIET_TURN_MS) return
  }
}

function recordId(body: Buffer): string {
  return /"id":(\d+)/.exec(body.toString('latin1', 0, 200))![1]!
}

async function send({ method, headers }: WorstBody, url: string, body: Buffer): Promise<number> {
  const response = await fetch(url, {
    method,
    headers,
    body: method === 'GET' ? null : body,
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  await response.arrayBuffer()
  return response.status
}

async function createProject(): Promise<void> {
  const response = await fetch(`${service.coreUrl}/api/v4/projects`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': secrets.rootToken, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'turns', path: 'turns' }),
  })
  const { id } = (await response.json()) as { id: number }
  if (id !== PROJECT) throw new Error(`the project has the id ${id}, ${response.status}`)
}
