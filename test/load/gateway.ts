/**
 * What letting a request through costs, against its anchors, in one run: `npm run bench:gateway`. Takes wrk, nginx, h2load and
 * the built collector; what is missing is left out, and said.
 */
import { execFileSync } from 'node:child_process'
import { collectorBinary } from '../collector/collector.ts'
import { traceBody } from './gateway/bodies.ts'
import { grpcLoad } from './gateway/h2load.ts'
import { type Penstock, startPenstockGateway } from './gateway/penstock.ts'
import { type Subject, startGuardingCollector, startNginx, startScript } from './gateway/subjects.ts'
import { wrk } from './gateway/wrk.ts'
import { median, printTable } from './measure.ts'

const ROUNDS = 3
const SECONDS = 4

interface Measured {
  readonly cpuMicros: number[]
  readonly perSecond: number[]
  readonly p50Ms: number[]
  readonly p99Ms: number[]
  failures: number
}

type Load = (subject: Subject, seconds: number) => ReturnType<typeof wrk>

for (const tool of ['wrk', 'nginx', 'h2load']) {
  if (!has(tool)) throw new Error(`${tool} is missing; the gateway's benchmark takes wrk, nginx and h2load`)
}

const sink = await startScript('sink.js')
const sinkUrl = `http://127.0.0.1:${sink.httpPort}`
const ours = await startPenstockGateway('penstock', sinkUrl)
const { token } = ours
const plain = await startScript('plain-proxy.js', [String(sink.httpPort)])
const uncoalesced = await startPenstockGateway('penstock, not coalescing', sinkUrl, { PENSTOCK_COALESCE: 'false' })
const nginx = await startNginx(token, sink.httpPort)
const collector = collectorBinary() === undefined ? undefined : await startGuardingCollector(token, sink.httpPort)
const tokenOf = (subject: Subject): string => (subject as Partial<Penstock>).token ?? token

try {
  for (const kilobytes of [2, 50]) {
    const body = traceBody(kilobytes * 1024)
    const load: Load = (subject, seconds) => wrk(subject.httpPort, body, tokenOf(subject), seconds)
    const subjects = [sink, nginx, plain, ours, uncoalesced, ...(collector ? [collector] : [])]
    report(`HTTP, ${body.length} bytes, 64 connections`, await measured(subjects, load))
  }
  const body = traceBody(2 * 1024)
  const load: Load = (subject, seconds) => grpcLoad(subject.grpcPort!, body, tokenOf(subject), seconds)
  const subjects = [ours, uncoalesced, ...(collector ? [collector] : [])]
  report(`gRPC, ${body.length} bytes, 64 streams on 4 connections`, await measured(subjects, load))
} finally {
  for (const subject of [collector, nginx, uncoalesced, plain, ours, sink]) await subject?.stop()
}

/** In turns, so that a slow moment of the machine falls on all of them; a warm-up first. */
async function measured(subjects: readonly Subject[], load: Load): Promise<Map<Subject, Measured>> {
  const results = new Map(
    subjects.map((subject): [Subject, Measured] => [
      subject,
      { cpuMicros: [], perSecond: [], p50Ms: [], p99Ms: [], failures: 0 },
    ]),
  )
  for (const subject of subjects) await load(subject, 2)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [subject, result] of results) {
      const before = subject.cpuSeconds()
      const { requests, perSecond, p50Ms, p99Ms, failures } = await load(subject, SECONDS)
      result.cpuMicros.push(((subject.cpuSeconds() - before) * 1e6) / requests)
      result.perSecond.push(perSecond)
      result.p50Ms.push(p50Ms)
      result.p99Ms.push(p99Ms)
      result.failures += failures
    }
  }
  return results
}

function report(title: string, results: Map<Subject, Measured>): void {
  const cpuOf = (name: string) => {
    const found = [...results].find(([subject]) => subject.name === name)
    return found && median(found[1].cpuMicros)
  }
  const ratio = (cpu: number, anchor: number | undefined) => (anchor === undefined ? '-' : (cpu / anchor).toFixed(2))
  console.log(`\n${title}: medians of ${ROUNDS} rounds of ${SECONDS} s`)
  printTable([
    ['', 'CPU µs/request', 'min', 'max', '× nginx', '× collector', 'requests/s', 'p50 ms', 'p99 ms', 'failures'],
    ...[...results].map(([{ name }, { cpuMicros, perSecond, p50Ms, p99Ms, failures }]) => {
      const cpu = median(cpuMicros)
      return [
        name,
        cpu.toFixed(1),
        Math.min(...cpuMicros).toFixed(1),
        Math.max(...cpuMicros).toFixed(1),
        ratio(cpu, cpuOf('nginx')),
        ratio(cpu, cpuOf('collector')),
        median(perSecond).toFixed(0),
        median(p50Ms).toFixed(2),
        median(p99Ms).toFixed(2),
        String(failures),
      ]
    }),
  ])
}

function has(tool: string): boolean {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
