/**
 * Measures the cost of forwarding a request, compared with nginx, a collector and a plain proxy, in one run:
 * `npm run bench:gateway`. Needs wrk, nginx and h2load; the collector is left out if it is not built.
 *
 *   npm run bench:gateway -- --row gzip        only the rows with this text in their title
 *                            --subject nginx   only these subjects; may be repeated
 *                            --rounds 5 --seconds 2
 */
import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { collectorBinary } from '../collector/collector.ts'
import { atMost, type Bound, reportBounds } from './bounds.ts'
import { traceBody } from './gateway/bodies.ts'
import { grpcLoad } from './gateway/h2load.ts'
import { type Penstock, startPenstockGateway } from './gateway/penstock.ts'
import { sdkBody } from './gateway/sdk-bodies.ts'
import { type Subject, startGuardingCollector, startNginx, startScript } from './gateway/subjects.ts'
import { type ExportLoad, wrk } from './gateway/wrk.ts'
import { median, printTable } from './measure.ts'

const { values: options } = parseArgs({
  options: {
    row: { type: 'string', default: '' },
    subject: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
  },
})
const WARM_UP_REQUESTS = 20_000
const WARM_UP_TURNS = 5
/** V8 gives memory back while a subject waits for its turn, and takes seconds of work to get it again. */
const SECONDS_BEFORE_EACH_ROUND = 2

const rounds = Number(options.rounds)
const seconds = Number(options.seconds)

interface Measured {
  readonly cpuMicros: number[]
  readonly perSecond: number[]
  readonly p50Ms: number[]
  readonly p99Ms: number[]
  failures: number
}

type Load = (subject: Subject, seconds: number) => ReturnType<typeof wrk>

interface Row {
  readonly title: string
  readonly load: Load
  readonly subjects: readonly (Subject | undefined)[]
  /** Returns the bounds on what was measured. A bound on a subject that was left out is not checked. */
  readonly boundsOf: (results: Results) => Bound[] | Promise<Bound[]>
}

type Results = ReadonlyMap<Subject, Measured>

const unbounded = (): Bound[] => []
const smallRequests: ExportLoad = {
  body: traceBody(2 * 1024),
  headers: { 'Content-Type': 'application/x-protobuf', 'User-Agent': 'OTel-OTLP-Exporter-JavaScript/0.223.0' },
  connections: 64,
}
const MAX_CPU_OF_NGINX = 1.15
const MAX_P99_OF_NGINX = 3
const MAX_CPU_OF_ONE_PROCESS = 1.1
const MAX_CPU_OF_COLLECTOR_GRPC = 0.12
const P99_SECONDS = 10

for (const tool of ['wrk', 'nginx']) if (!has(tool)) throw new Error(`${tool} is missing`)

const sink = await startScript('sink.js')
const sinkUrl = `http://127.0.0.1:${sink.httpPort}`
const ours = await startPenstockGateway('penstock', sinkUrl)
const { token } = ours
const plain = await startScript('plain-proxy.js', [String(sink.httpPort)])
const uncoalesced = await startPenstockGateway('penstock, not coalescing', sinkUrl, { PENSTOCK_COALESCE: 'false' })
const slow = await startPenstockGateway('penstock, node:http', sinkUrl, { PENSTOCK_FAST_PATH: 'false' })
const twoWorkers = await startPenstockGateway('penstock, 2 workers', sinkUrl, {}, ['--workers', '2'])
const nginx = await startNginx(token, sink.httpPort)
const nginxTwoWorkers = await startNginx(token, sink.httpPort, 2)
const collector = collectorBinary() === undefined ? undefined : await startGuardingCollector(token, sink.httpPort)
const tokenOf = (subject: Subject): string => (subject as Partial<Penstock>).token ?? token

const bounds: Bound[] = []
try {
  for (const { title, load, subjects, boundsOf } of await rows()) {
    if (!title.includes(options.row)) continue
    if (title.startsWith('gRPC') && !has('h2load')) throw new Error('h2load is missing, which the rows of gRPC take')
    const isWanted = ({ name }: Subject) => options.subject.length === 0 || options.subject.includes(name)
    const measuredSubjects = subjects.filter((subject) => subject !== undefined).filter(isWanted)
    const results = await measured(measuredSubjects, load)
    report(title, results)
    bounds.push(...(await boundsOf(results)))
  }
  reportBounds(`bounds, load average ${loadavg()[0]!.toFixed(2)}`, bounds)
} finally {
  for (const subject of [collector, nginxTwoWorkers, nginx, twoWorkers, slow, uncoalesced, plain, ours, sink])
    await subject?.stop()
}

async function rows(): Promise<Row[]> {
  const all = [sink, nginx, plain, ours, uncoalesced, slow, collector]
  const made: Row[] = []
  for (const sent of [smallRequests, { ...smallRequests, body: traceBody(50 * 1024) }]) {
    const row = httpRow(`HTTP, ${sent.body.length} bytes`, sent, all)
    const isSmall = sent === smallRequests
    made.push(
      isSmall ? { ...row, subjects: [...all, twoWorkers, nginxTwoWorkers], boundsOf: boundsOfSmallRequests } : row,
    )
  }
  for (const spans of [50, 200, 1_000]) {
    for (const compression of ['gzip', 'none'] as const) {
      const { bytes: body, headers } = await sdkBody(spans, compression)
      const title = `HTTP, ${spans} spans of an SDK, ${compression === 'gzip' ? 'gzip' : 'plain'}, ${body.length} bytes`
      made.push(httpRow(title, { body, headers, connections: 32 }, all))
    }
    const { bytes: body, headers } = await sdkBody(spans, 'gzip')
    // The JavaScript SDK compresses during sending, so it does not know the length of the body.
    const title = `HTTP, ${spans} spans of an SDK, gzip in chunks, ${body.length} bytes`
    made.push(httpRow(title, { body, headers, connections: 32, isChunked: true }, all))
  }
  const message = traceBody(2 * 1024)
  made.push({
    title: `gRPC, ${message.length} bytes, 64 streams on 4 connections`,
    load: (subject, forSeconds) => grpcLoad(subject.grpcPort!, message, tokenOf(subject), forSeconds),
    subjects: [ours, uncoalesced, collector],
    boundsOf: (results) =>
      cpuBound('CPU of gRPC, × the collector', results, ours, collector, MAX_CPU_OF_COLLECTOR_GRPC),
  })
  return made
}

function httpRow(title: string, sent: ExportLoad, subjects: Row['subjects']): Row {
  return {
    title: `${title}, ${sent.connections} connections`,
    load: (subject, forSeconds) => wrk(subject.httpPort, sent, tokenOf(subject), forSeconds),
    subjects,
    boundsOf: unbounded,
  }
}

async function boundsOfSmallRequests(results: Results): Promise<Bound[]> {
  return [
    ...cpuBound('CPU of a small request, × nginx', results, ours, nginx, MAX_CPU_OF_NGINX),
    ...cpuBound('CPU with 2 workers, × one process', results, twoWorkers, ours, MAX_CPU_OF_ONE_PROCESS),
    ...(await latencyBound(results)),
  ]
}

function cpuBound(
  what: string,
  results: Results,
  subject: Subject,
  anchor: Subject | undefined,
  bound: number,
): Bound[] {
  const [cpu, anchorCpu] = [results.get(subject), anchor && results.get(anchor)]
  if (cpu === undefined || anchorCpu === undefined) return []
  return [atMost(what, median(cpu.cpuMicros) / median(anchorCpu.cpuMicros), bound, '', 2)]
}

/** Measures the latency of the gateway and of nginx, each at about half of the rate that it has reached. */
async function latencyBound(results: Results): Promise<Bound[]> {
  if (!results.has(ours) || !results.has(nginx)) return []
  const p99At = async (subject: Subject): Promise<{ p99Ms: number; what: string }> => {
    const halfPerSecond = median(results.get(subject)!.perSecond) / 2
    const paced = { ...smallRequests, lua: pausesOf((smallRequests.connections * 1_000) / halfPerSecond) }
    await wrk(subject.httpPort, paced, tokenOf(subject), SECONDS_BEFORE_EACH_ROUND)
    const { p99Ms, perSecond } = await wrk(subject.httpPort, paced, tokenOf(subject), P99_SECONDS)
    return { p99Ms, what: `p99 of ${subject.name} at ${perSecond.toFixed(0)} requests/s, half of its maximum` }
  }
  const [own, anchor] = [await p99At(ours), await p99At(nginx)]
  return [
    { what: anchor.what, measured: `${anchor.p99Ms.toFixed(1)} ms` },
    atMost(own.what, own.p99Ms, MAX_P99_OF_NGINX * anchor.p99Ms, 'ms'),
  ]
}

/** Returns the lines of a script that make each connection wait before a request, in whole milliseconds with this mean. */
function pausesOf(meanMs: number): string {
  return `function delay() return math.floor(${meanMs.toFixed(3)} + math.random()) end`
}

/** Measures the subjects in turns, so that a slow moment of the machine affects all of them. */
async function measured(subjects: readonly Subject[], load: Load): Promise<Map<Subject, Measured>> {
  const results = new Map(
    subjects.map((subject): [Subject, Measured] => [
      subject,
      { cpuMicros: [], perSecond: [], p50Ms: [], p99Ms: [], failures: 0 },
    ]),
  )
  for (const subject of subjects) await warmUp(subject, load)
  for (let round = 0; round < rounds; round += 1) {
    for (const [subject, result] of results) {
      await load(subject, SECONDS_BEFORE_EACH_ROUND)
      const before = subject.cpuSeconds()
      const { requests, perSecond, p50Ms, p99Ms, failures } = await load(subject, seconds)
      result.cpuMicros.push(((subject.cpuSeconds() - before) * 1e6) / requests)
      result.perSecond.push(perSecond)
      result.p50Ms.push(p50Ms)
      result.p99Ms.push(p99Ms)
      result.failures += failures
    }
  }
  return results
}

/** Loads the subject until its code is compiled: on a busy machine that takes longer than any fixed time. */
async function warmUp(subject: Subject, load: Load): Promise<void> {
  let requests = 0
  for (let turn = 0; turn < WARM_UP_TURNS && requests < WARM_UP_REQUESTS; turn += 1) {
    requests += (await load(subject, 2)).requests
  }
}

function report(title: string, results: Map<Subject, Measured>): void {
  const cpuOf = (name: string) => {
    const found = [...results].find(([subject]) => subject.name === name)
    return found && median(found[1].cpuMicros)
  }
  const ratio = (cpu: number, anchor: number | undefined) => (anchor === undefined ? '-' : (cpu / anchor).toFixed(2))
  console.log(`\n${title}: medians of ${rounds} rounds of ${seconds} s`)
  printTable([
    [
      '',
      'CPU µs/request',
      'min',
      'max',
      '× nginx',
      '× plain proxy',
      '× collector',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'failures',
    ],
    ...[...results].map(([{ name }, { cpuMicros, perSecond, p50Ms, p99Ms, failures }]) => {
      const cpu = median(cpuMicros)
      return [
        name,
        cpu.toFixed(1),
        Math.min(...cpuMicros).toFixed(1),
        Math.max(...cpuMicros).toFixed(1),
        ratio(cpu, cpuOf('nginx')),
        ratio(cpu, cpuOf(plain.name)),
        ratio(cpu, cpuOf('collector')),
        median(perSecond).toFixed(0),
        median(p50Ms).toFixed(2),
        median(p99Ms).toFixed(2),
        String(failures),
      ]
    }),
  ])
  // A failed request is cheaper than an accepted one, so its row would be misleading.
  if ([...results.values()].some(({ failures }) => failures > 0)) process.exitCode = 1
}

function has(tool: string): boolean {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
