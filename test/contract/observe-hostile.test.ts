import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { contentTypes, decodeRpcStatus, type Encoding, type Signal, signalNames, signals } from '@penstock/otlp'
import { afterAll, beforeAll, expect, test } from 'vitest'

const credential = 'only-for-the-gateway'
const MIB = 1024 * 1024

let directory: string
let child: ChildProcess
let url: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  const script = join(import.meta.dirname, 'observe-child.mjs')
  const options = ['--max-old-space-size=1024', script, join(directory, 'observe.db'), credential]
  child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] })
  ;[url] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
})
afterAll(async () => {
  const ended = once(child, 'close')
  if (child.kill('SIGKILL')) await ended
  rmSync(directory, { recursive: true })
})

async function post(path: string, body: Uint8Array, encoding: Encoding, coding = 'identity') {
  const headers = {
    authorization: `Bearer ${credential}`,
    'content-type': contentTypes[encoding],
    'content-encoding': coding,
  }
  const response = await fetch(url + path, { method: 'POST', headers, body: Buffer.from(body) })
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) }
}

const jsonList = (name: string, elements: number) => Buffer.from(`{"${name}":[${'{},'.repeat(elements)}{}]}`)
const repeated = (unit: Uint8Array, times: number) => Buffer.alloc(unit.length * times, unit)

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
}
/** Returns a length-delimited protobuf field. */
const field = (number: number, content: Uint8Array) =>
  Buffer.concat([Buffer.from(varint(number * 8 + 2)), Buffer.from(varint(content.length)), content])

/** Returns an AnyValue with arrays or maps that are nested `levels` deep. */
function nestedValue(levels: number, wrap: (inner: Buffer) => Buffer): Buffer {
  let value: Buffer = Buffer.alloc(0)
  for (let level = 0; level < levels; level += 1) value = wrap(value)
  return value
}
const inArray = (value: Buffer) => field(5, field(1, value))
const inMap = (value: Buffer) => field(6, field(1, field(2, value)))

/** Returns a request with one resource that has this attribute value. */
const withAttribute = (value: Buffer) => field(1, field(1, field(1, field(2, value))))

interface HostileBody {
  readonly why: string
  readonly encoding: Encoding
  readonly body: (signal: Signal) => Uint8Array
}

const hostileBodies: readonly HostileBody[] = [
  {
    why: '20 Mi empty groups',
    encoding: 'json',
    body: (signal) => jsonList(signals[signal].json.resources, 20 * MIB),
  },
  { why: '20 MB of opening brackets', encoding: 'json', body: () => Buffer.alloc(20_000_000, '[') },
  {
    why: '20 MB of opening braces',
    encoding: 'json',
    body: () => Buffer.from('{"a":'.repeat(4_000_000)),
  },
  { why: '30 Mi numbers', encoding: 'json', body: () => Buffer.from(`[${'1,'.repeat(30 * MIB)}1]`) },
  { why: '20 Mi empty groups', encoding: 'protobuf', body: () => repeated(Uint8Array.of(0x0a, 0), 20 * MIB) },
  { why: 'arrays 10,000 deep', encoding: 'protobuf', body: () => withAttribute(nestedValue(10_000, inArray)) },
  { why: 'maps 10,000 deep', encoding: 'protobuf', body: () => withAttribute(nestedValue(10_000, inMap)) },
]

const cases = hostileBodies.flatMap((row) => signalNames.map((signal) => ({ ...row, signal })))

/** Returns the peak memory of the process. Only Linux reports it; elsewhere only the heap limit is tested. */
function peakMemoryBytes(): number {
  if (process.platform !== 'linux') return 0
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

test.each(cases)('$signal, $encoding, gzip: $why', async ({ signal, encoding, body }) => {
  const { status, body: refusal } = await post(`/v1/${signal}`, gzipSync(body(signal)), encoding, 'gzip')
  expect([status, decodeRpcStatus(refusal, encoding).code]).toEqual([400, 3])
  expect((await post(`/v1/${signal}`, Buffer.from('{}'), 'json')).status).toBe(200)
  expect(peakMemoryBytes()).toBeLessThan(900 * MIB)
})

test('answers other requests while it parses hostile bodies', async () => {
  const hostile = gzipSync(jsonList('resourceSpans', 20 * MIB))
  let parsing = true
  const sendHostile = () => post('/v1/traces', hostile, 'json', 'gzip').then(({ status }) => status)
  const refused = Promise.all(Array.from({ length: 5 }, sendHostile)).finally(() => {
    parsing = false
  })
  let others = 0
  while (parsing) {
    expect((await post('/v1/nothing', Buffer.alloc(0), 'json')).status).toBe(404)
    others += 1
  }
  expect(await refused).toEqual([400, 400, 400, 400, 400])
  // A thread that parses the body itself answers only a few requests between them.
  expect(others).toBeGreaterThan(20)
})
