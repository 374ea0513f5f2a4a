/**
 * Measures the cost of forwarding a request, compared with nginx, a collector and a plain proxy, in one run:
 * `npm run bench:gateway`. Needs wrk, nginx and h2load; the collector is left out if it is not built.
 *
 *   npm run bench:gateway -- --row gzip        only the rows with this text in their title
 *                            --subject nginx   only these subjects; may be repeated
 *                            --rounds 5 --seconds 2
 */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { collectorBinary } from '../collector/collector.ts'
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
}

for (const tool of ['wrk', 'nginx']) if (!has(tool)) throw new Error(`${tool} is missing`)

const sink = await startScript('sink.js')
const sinkUrl = `http://127.0.0.1:${sink.httpPort}`
const ours = await startPenstockGateway('penstock', sinkUrl)
const { token } = ours
const plain = await startScript('plain-proxy.js', [String(sink.httpPort)])
const uncoalesced = await startPenstockGateway('penstock, not coalescing', sinkUrl, { PENSTOCK_COALESCE: 'false' })
const slow = await startPenstockGateway('penstock, node:http', sinkUrl, { PENSTOCK_FAST_PATH: 'false' })
const nginx = await startNginx(token, sink.httpPort)
const collector = collectorBinary() === undefined ? undefined : await startGuardingCollector(token, sink.httpPort)
const tokenOf = (subject: Subject): string => (subject as Partial<Penstock>).token ?? token

try {
  for (const { title, load, subjects } of await rows()) {
    if (!title.includes(options.row)) continue
    if (title.startsWith('gRPC') && !has('h2load')) throw new Error('h2load is missing, which the rows of gRPC take')
    const isWanted = ({ name }: Subject) => options.subject.length === 0 || options.subject.includes(name)
    const measuredSubjects = subjects.filter((subject) => subject !== undefined).filter(isWanted)
    report(title, await measured(measuredSubjects, load))
  }
} finally {
  for (const subject of [collector, nginx, slow, uncoalesced, plain, ours, sink]) await subject?.stop()
}

async function rows(): Promise<Row[]> {
  const all = [sink, nginx, plain, ours, uncoalesced, slow, collector]
  const made: Row[] = []
  for (const kilobytes of [2, 50]) {
    const body = traceBody(kilobytes * 1024)
    const headers = { 'Content-Type': 'application/x-protobuf', 'User-Agent': 'OTel-OTLP-Exporter-JavaScript/0.223.0' }
    made.push(httpRow(`HTTP, ${body.length} bytes`, { body, headers, connections: 64 }, all))
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
  })
  return made
}

function httpRow(title: string, sent: ExportLoad, subjects: Row['subjects']): Row {
  return {
    title: `${title}, ${sent.connections} connections`,
    load: (subject, forSeconds) => wrk(subject.httpPort, sent, tokenOf(subject), forSeconds),
    subjects,
  }
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
