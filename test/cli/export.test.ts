import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  AggregationTemporality,
  decodeRequest,
  type Encoding,
  encodeExportResponse,
  encodeRpcStatus,
  type Metric,
  type Signal,
  signals,
} from '@penstock/otlp'
import {
  Gate,
  ManualClock,
  type RecordedRequest,
  refusedUrl,
  type ScriptedReply,
  ScriptedServer,
} from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const push = caseFile('push-pipeline-five-jobs-three-stages')
const accepted: ScriptedReply = { play: 'reply', status: 200 }

async function receiver(script: Parameters<typeof ScriptedServer.start>[0] = () => accepted): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

const bySignal = (replies: Partial<Record<Signal, ScriptedReply>>) => (request: RecordedRequest) =>
  replies[signalOf(request)] ?? accepted

function signalOf({ path }: RecordedRequest): Signal {
  return (Object.keys(signals) as Signal[]).find((signal) => path.endsWith(signals[signal].httpPath)) ?? 'traces'
}

const paths = (server: ScriptedServer): string[] => server.requests.map((request) => request.path).sort()

/** Rows of the table: signal → columns. */
function tableOf({ stdout }: Outcome): Record<string, string[]> {
  const rows = stdout
    .split('\n')
    .map((line) => line.split(/ {2,}/))
    .filter(([first]) => first !== undefined && /^(?:traces|metrics|logs)$/.test(first))
  return Object.fromEntries(rows.map(([signal = '', ...cells]) => [signal, cells]))
}

describe('delivery', () => {
  test('everything accepted', async () => {
    const server = await receiver()
    const outcome = await penstock(['export', push, '--endpoint', `${server.url}/otlp`, '--token', 'secret-1'])
    expect(outcome.exitCode).toBe(0)
    expect(paths(server)).toEqual(['/otlp/v1/logs', '/otlp/v1/metrics', '/otlp/v1/traces'])
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer secret-1', 'content-type': 'application/x-protobuf' })
    }
    expect(tableOf(outcome)).toEqual({
      traces: ['1', '6 spans', expect.stringMatching(/^\d\.\d kB$/), '6', '0', '0', '0'],
      metrics: ['1', '10 metrics', expect.stringMatching(/^\d\.\d kB$/), '10', '0', '0', '0'],
      logs: ['1', '6 log records', expect.stringMatching(/^\d\.\d kB$/), '6', '0', '0', '0'],
    })
    expect(outcome.stdout.trimEnd().split('\n').at(-1)).toBe('everything accepted')
    expect(outcome.stdout + outcome.stderr).not.toContain('secret-1')
  })

  test('one signal, as JSON, from standard input', async () => {
    const server = await receiver()
    const stdin = ndjson([hookLine(1), hookLine(2)])
    const args = ['export', '-', '--endpoint', server.url, '--signals', 'traces', '--encoding', 'json']
    const outcome = await penstock(args, { stdin })
    expect(outcome.exitCode).toBe(0)
    expect(Object.keys(tableOf(outcome))).toEqual(['traces'])
    expect(paths(server)).toEqual(['/v1/traces', '/v1/traces'])
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      'application/json',
    ])
  })

  test.each([
    { env: { PENSTOCK_EXPORT_TOKEN: 'ours', SVC_OBSERVABILITY_TOKEN: 'theirs' }, sent: 'Bearer ours' },
    { env: { SVC_OBSERVABILITY_TOKEN: 'theirs' }, sent: 'Bearer theirs' },
    { env: { PENSTOCK_SERVICE_NAME: 'gitlab', GITLAB_OBSERVABILITY_TOKEN: 'of-gitlab' }, sent: 'Bearer of-gitlab' },
    { env: { PENSTOCK_EXPORT_TOKEN: '' }, sent: undefined },
  ])('token and endpoint of $env', async ({ env, sent }) => {
    const server = await receiver()
    const args = ['export', push, '--signals', 'traces']
    const { exitCode } = await penstock(args, { env: { PENSTOCK_EXPORT_ENDPOINT: server.url, ...env } })
    expect(exitCode).toBe(0)
    expect(server.requests[0]?.headers.authorization).toBe(sent)
  })

  test('a refused token ends the run', async () => {
    const body = Buffer.from(
      encodeRpcStatus({ code: 16, message: 'token secret-1 expired', retryDelayMs: undefined }, 'protobuf'),
    )
    const server = await receiver(() => ({
      play: 'reply',
      status: 401,
      headers: { 'content-type': 'application/x-protobuf' },
      body,
    }))
    const stdin = ndjson(Array.from({ length: 200 }, (_, at) => hookLine(at + 1)))
    const outcome = await penstock(['export', '-', '--endpoint', server.url, '--token', 'secret-1'], { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(server.requests.length).toBeLessThan(20)
    expect(outcome.stdout).toMatch(/^(?:traces|metrics|logs): HTTP 401 Unauthorized: token \[token\] expired$/m)
    expect(outcome.stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^not everything was accepted; stopped: HTTP 401 Unauthorized/,
    )
    expect(outcome.stdout + outcome.stderr).not.toContain('secret-1')
  })

  test('a refused token ends the run though the input is silent', async () => {
    const server = await receiver(() => ({ play: 'reply', status: 401 }))
    const stdin = new Readable({ read() {} })
    stdin.push(ndjson([hookLine(1)]))
    const outcome = await penstock(['export', '-', '--endpoint', server.url, '--signals', 'traces'], { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).traces?.[0]).toBe('1')
    expect(outcome.stdout).toContain('not everything was accepted; stopped: HTTP 401 Unauthorized')
    expect(outcome.stderr).toBe('')
    expect(stdin.destroyed).toBe(true)
  })

  test('when no signal may be sent, the rest of the input is not converted', async () => {
    const server = await receiver(() => ({ play: 'reply', status: 403 }))
    const stdin = ndjson(Array.from({ length: 2_000 }, (_, at) => hookLine(at + 1)))
    const outcome = await penstock(['export', '-', '--endpoint', server.url, '--signals', 'traces,logs'], { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(Number(tableOf(outcome).traces?.[0])).toBeLessThan(200)
    expect(outcome.stdout).toContain('not everything was accepted; stopped: HTTP 403 Forbidden')
  })

  test('a partial success is not everything', async () => {
    const body = Buffer.from(encodeExportResponse('traces', { rejected: 2n, message: 'two too old' }, 'protobuf'))
    const server = await receiver(
      bySignal({ traces: { ...accepted, headers: { 'content-type': 'application/x-protobuf' }, body } }),
    )
    const outcome = await penstock(['export', push, '--endpoint', server.url])
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).traces?.slice(3)).toEqual(['4', '2', '0', '0'])
    expect(outcome.stdout).toContain('traces: two too old')
    expect(outcome.stdout).toContain('not everything was accepted')
  })

  test('503, then accepted', async () => {
    const server = await receiver([{ play: 'reply', status: 503, headers: { 'retry-after': '2' } }, accepted])
    const clock = new ManualClock(1_000_000)
    const running = penstock(['export', push, '--endpoint', server.url, '--signals', 'traces'], { clock })
    await clock.untilSleeping()
    expect(clock.wakeTimesMs).toEqual([1_002_000])
    await clock.advance(2_000)
    const outcome = await running
    expect(outcome.exitCode).toBe(0)
    expect(tableOf(outcome).traces?.slice(3)).toEqual(['6', '0', '0', '1'])
    expect(outcome.stderr).toBe('attempt 1 failed, next in 2.0 s: HTTP 503 Service Unavailable\n')
  })

  test('a receiver that is not there', async () => {
    const url = await refusedUrl()
    const outcome = await penstock(['export', push, '--endpoint', url, '--signals', 'logs', '--retry-for', '0.05'])
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).logs?.slice(3, 6)).toEqual(['0', '0', '6'])
    expect(outcome.stdout).toMatch(/^logs: gave up after \d+ attempts: /m)
  })

  test('a signal that fails does not hold up the others', async () => {
    const server = await receiver(bySignal({ metrics: { play: 'reply', status: 400, body: 'no metrics here' } }))
    const outcome = await penstock(['export', push, '--endpoint', server.url])
    expect(outcome.exitCode).toBe(1)
    const { traces, metrics, logs } = tableOf(outcome)
    expect([traces, metrics, logs].map((row) => row?.[5])).toEqual(['0', '10', '0'])
  })

  test('a record that is refused makes it 1, though the others were accepted', async () => {
    const server = await receiver()
    const stdin = ndjson([hookLine(1), '{"object_kind":"push"}', hookLine(3)])
    const outcome = await penstock(['export', '-', '--endpoint', server.url, '--signals', 'traces'], { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(server.requests).toHaveLength(2)
    expect(outcome.stderr).toContain('stdin: line 2: object_kind: must be pipeline or build')
    expect(outcome.stdout).toContain('all that was sent was accepted')
  })

  test('nothing to export is no failure', async () => {
    const server = await receiver()
    const stdin = hookLine(1, { status: 'running' })
    const { exitCode, stdout } = await penstock(['export', '-', '--endpoint', server.url], { stdin })
    expect({ exitCode, requests: server.requests.length }).toEqual({ exitCode: 0, requests: 0 })
    expect(stdout).toContain('0 spans')
  })

  test('an interruption ends it with 130, and the table tells how far it came', async () => {
    const answer = new Gate()
    const server = await receiver((_, index) => (index === 0 ? accepted : { ...accepted, after: answer.opened }))
    const interruption = new AbortController()
    const stdin = new Readable({ read() {} })
    stdin.push(ndjson([hookLine(1), hookLine(2)]))
    const args = ['export', '-', '--endpoint', server.url, '--signals', 'traces', '--concurrency', '1']
    const running = penstock(args, { stdin, signal: interruption.signal })
    await server.received(2)
    interruption.abort()
    const outcome = await running
    answer.open()
    expect(outcome.exitCode).toBe(130)
    expect(tableOf(outcome).traces).toEqual(['2', '4 spans', expect.any(String), '2', '0', '2', '0'])
    expect(outcome.stdout).toContain('not everything was accepted; stopped: interrupted')
    expect(outcome.stderr).not.toContain('    at ')
  })
})

describe('merged metrics', () => {
  function metricsOf({ body }: RecordedRequest, encoding: Encoding = 'protobuf'): ReadonlyMap<string, Metric> {
    const { resources } = decodeRequest('metrics', body, encoding)
    const metrics = resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
    return new Map(metrics.map((metric) => [metric.name, metric]))
  }

  /** Value, start and time of the only point of the run counter. */
  function runCount(request: RecordedRequest | undefined) {
    const data = request && metricsOf(request).get('cicd.pipeline.run.count')?.data
    if (data?.type !== 'sum') throw new Error('no run counter')
    expect(data.dataPoints).toHaveLength(1)
    const { value, startTimeUnixNano: startNs, timeUnixNano: timeNs } = data.dataPoints[0]!
    return { value: value?.value, startNs, timeNs, temporality: data.aggregationTemporality }
  }

  const lines = (first: number, count: number) => ndjson(Array.from({ length: count }, (_, at) => hookLine(first + at)))

  test('windowed: one request for all pipelines, since the start of the run', async () => {
    const server = await receiver()
    const clock = new ManualClock(5_000)
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'windowed']
    const outcome = await penstock(args, { clock, stdin: lines(1, 3) })
    expect(outcome.exitCode).toBe(0)
    const [metrics, ...more] = server.requests.filter((request) => signalOf(request) === 'metrics')
    expect(more).toEqual([])
    expect(runCount(metrics)).toEqual({
      value: 3n,
      startNs: 5_000_000_000n,
      timeNs: 5_000_000_001n,
      temporality: AggregationTemporality.DELTA,
    })
    expect(tableOf(outcome).metrics?.slice(0, 2)).toEqual(['1', '8 metrics'])
    expect(tableOf(outcome).traces?.[0]).toBe('3')
  })

  test('a window is exported when it is full', async () => {
    const server = await receiver()
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'windowed', '--signals', 'metrics']
    await penstock(args, { stdin: lines(1, 600) })
    expect(server.requests.map((request) => runCount(request).value)).toEqual([500n, 100n])
    const [first, second] = server.requests.map(runCount)
    expect(second?.startNs).toBe(first?.timeNs)
  })

  test('cumulative: totals go on from run to run', async () => {
    await using directory = await temporaryDirectory()
    const state = join(directory.path, 'totals.json')
    const server = await receiver()
    const args = [
      'export',
      '-',
      '--endpoint',
      server.url,
      '--metrics-mode',
      'cumulative',
      '--signals',
      'metrics',
      '--state',
      state,
    ]
    expect((await penstock(args, { clock: new ManualClock(5_000), stdin: lines(1, 2) })).exitCode).toBe(0)
    expect((await penstock(args, { clock: new ManualClock(9_000), stdin: lines(3, 3) })).exitCode).toBe(0)
    expect(server.requests.map(runCount)).toEqual([
      { value: 2n, startNs: 5_000_000_000n, timeNs: 5_000_000_001n, temporality: AggregationTemporality.CUMULATIVE },
      { value: 5n, startNs: 5_000_000_000n, timeNs: 9_000_000_000n, temporality: AggregationTemporality.CUMULATIVE },
    ])
  })

  test('a total that was not accepted is not remembered', async () => {
    await using directory = await temporaryDirectory()
    const state = join(directory.path, 'totals.json')
    const server = await receiver((_, index) => (index === 0 ? { play: 'reply', status: 400 } : accepted))
    const args = [
      'export',
      '-',
      '--endpoint',
      server.url,
      '--metrics-mode',
      'cumulative',
      '--signals',
      'metrics',
      '--state',
      state,
    ]
    expect((await penstock(args, { stdin: lines(1, 2) })).exitCode).toBe(1)
    expect(existsSync(state)).toBe(false)
    expect((await penstock(args, { stdin: lines(1, 2) })).exitCode).toBe(0)
    expect(runCount(server.requests[1]).value).toBe(2n)
    const before = await readFile(state, 'utf8')
    const refusing = await receiver(() => ({ play: 'reply', status: 400 }))
    expect((await penstock([...args, '--endpoint', refusing.url], { stdin: lines(3, 1) })).exitCode).toBe(1)
    expect(await readFile(state, 'utf8')).toBe(before)
  })

  test('what is refused of one project takes nothing from the totals of another', async () => {
    const server = await receiver((_, index) => (index === 3 ? { play: 'reply', status: 400 } : accepted))
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'cumulative', '--signals', 'metrics']
    const project = (name: string, line: string) => line.replaceAll('tide-tables', name)
    const hooks = Array.from({ length: 1_500 }, (_, at) => project(at % 2 === 0 ? 'a' : 'b', hookLine(at + 1)))
    const outcome = await penstock([...args, '--concurrency', '1'], { stdin: ndjson(hooks) })
    expect(outcome.exitCode).toBe(1)
    const projectOf = ({ body }: RecordedRequest) =>
      decodeRequest('metrics', body, 'protobuf').resources.map(
        ({ resource }) => resource.attributes.find(({ key }) => key === 'service.name')?.value,
      )
    expect(server.requests.map((request) => [...projectOf(request), runCount(request).value])).toEqual([
      ['a', 250n],
      ['b', 250n],
      ['a', 500n],
      ['b', 500n],
      ['a', 750n],
      ['b', 500n],
    ])
  })

  test('totals of what was accepted are remembered, though the rest was not', async () => {
    await using directory = await temporaryDirectory()
    const server = await receiver((_, index) => (index === 1 ? { play: 'reply', status: 401 } : accepted))
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'cumulative', '--signals', 'metrics']
    const all = [...args, '--concurrency', '1', '--state', join(directory.path, 'totals.json')]
    const both = ndjson([hookLine(1), hookLine(2).replaceAll('tide-tables', 'b')])
    expect((await penstock(all, { stdin: both })).exitCode).toBe(1)
    expect((await penstock(all, { stdin: both })).exitCode).toBe(0)
    expect(server.requests.map((request) => runCount(request).value)).toEqual([1n, 1n, 2n, 1n])
  })

  test('totals that cannot be written make it 1, and the table still tells what was sent', async () => {
    await using directory = await temporaryDirectory()
    const state = join(directory.path, 'totals.json')
    await mkdir(`${state}.tmp`)
    const server = await receiver()
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'cumulative', '--state', state]
    const outcome = await penstock(args, { stdin: lines(1, 1) })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toBe(`penstock: cannot write ${state}: illegal operation on a directory\n`)
    expect(tableOf(outcome).metrics?.[0]).toBe('1')
  })

  test('without a state file totals are those of the run', async () => {
    const server = await receiver()
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'cumulative', '--signals', 'metrics']
    await penstock(args, { stdin: lines(1, 600) })
    expect(server.requests.map((request) => runCount(request).value)).toEqual([500n, 600n])
  })

  test('a refused token ends the run here too', async () => {
    const server = await receiver(() => ({ play: 'reply', status: 401 }))
    const args = ['export', '-', '--endpoint', server.url, '--metrics-mode', 'windowed', '--signals', 'metrics']
    const outcome = await penstock(args, { stdin: lines(1, 2_000) })
    expect({ exitCode: outcome.exitCode, requests: server.requests.length }).toEqual({ exitCode: 1, requests: 1 })
  })

  test.each([
    { content: 'not JSON' },
    { content: '{"format":"something else"}' },
    { content: 'null' },
    { content: '{"format":"penstock cumulative metrics 1","startNs":1,"lastNs":2,"streams":[]}' },
  ])('a state file of $content is none of ours', async ({ content }) => {
    await using directory = await temporaryDirectory()
    const state = await directory.file('totals.json', content)
    const args = ['export', push, '--endpoint', 'http://127.0.0.1:9', '--metrics-mode', 'cumulative', '--state', state]
    const { exitCode, stderr } = await penstock(args)
    expect(exitCode).toBe(2)
    expect(stderr).toBe(`penstock: ${state} is no state file of penstock export; remove it to start from zero\n`)
  })

  test('a state file in a place that is not there', async () => {
    const args = [
      'export',
      push,
      '--endpoint',
      'http://127.0.0.1:9',
      '--metrics-mode',
      'cumulative',
      '--state',
      'no-such/totals',
    ]
    expect(await penstock(args)).toMatchObject({
      exitCode: 2,
      stderr: 'penstock: cannot write to no-such: no such file or directory\n',
    })
  })
})

describe('signals that jobs are told to export', () => {
  const run = async (value: string, flags: readonly string[] = []) => {
    const server = await receiver()
    const env = { SVC_OBSERVABILITY_EXPORT: value, PENSTOCK_EXPORT_ENDPOINT: server.url }
    const { exitCode, stdout, stderr } = await penstock(['export', push, ...flags], { env })
    return { exitCode, stdout, stderr, paths: paths(server) }
  }

  test('only these are sent, and unknown words are said', async () => {
    expect(await run(' Logs,traces,logs,spans')).toMatchObject({
      exitCode: 0,
      stderr: 'penstock: warning: SVC_OBSERVABILITY_EXPORT: no signal: spans; signals are traces, metrics, logs\n',
      paths: ['/v1/logs', '/v1/traces'],
    })
  })

  test('a flag wins', async () => {
    expect(await run('logs', ['--signals', 'traces'])).toMatchObject({ exitCode: 0, stderr: '', paths: ['/v1/traces'] })
  })

  test('none: nothing is exported, and that is no failure', async () => {
    expect(await run('')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'penstock: nothing to export: SVC_OBSERVABILITY_EXPORT names no signal\n',
      paths: [],
    })
  })
})

describe('mistakes', () => {
  test.each([
    'export --tokn=canary-7 x',
    "export --tokn=canary-7'canary-7 x",
    'export -x=canary-7 x',
    'convert --token=canary-7 x',
    'exprt --token=canary-7',
  ])('%s does not print the value', async (line) => {
    const { exitCode, stdout, stderr } = await penstock(line.split(' '))
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^penstock: unknown (?:option|command) '/)
    expect(stderr).not.toContain('canary')
  })

  test.each([
    { flags: [], complaint: 'where to? Name the receiver with --endpoint or PENSTOCK_EXPORT_ENDPOINT' },
    {
      flags: ['--endpoint', 'collector:4318'],
      complaint: 'the endpoint must be a URL that starts with http:// or https://',
    },
    {
      flags: ['--endpoint', 'http://collector:4318/v1/traces'],
      complaint: 'the endpoint is the base URL, to which /v1/traces is appended; use http://collector:4318',
    },
    {
      flags: ['--endpoint', 'http://collector', '--token', 'a b'],
      complaint: 'the token holds a character that a header cannot; is there a blank or a line break in it?',
    },
    {
      flags: ['--endpoint', 'http://collector', '--state', 'totals.json'],
      complaint: '--state keeps cumulative totals; it needs --metrics-mode cumulative',
    },
    {
      flags: ['--endpoint', 'http://collector', '--concurrency', '0'],
      complaint: "option '--concurrency <requests>' argument '0' is invalid. It must be an integer from 1 to 64.",
    },
    {
      flags: ['--endpoint', 'http://collector', '--timeout', 'soon'],
      complaint:
        "option '--timeout <seconds>' argument 'soon' is invalid. It must be a number of seconds above 0 and at most 86,400.",
    },
  ])('$flags', async ({ flags, complaint }) => {
    expect(await penstock(['export', push, ...flags])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `penstock: ${complaint}\n`,
    })
  })

  test('a service name that cannot be part of a name', async () => {
    const { exitCode, stderr } = await penstock(['convert', push], { env: { PENSTOCK_SERVICE_NAME: 'Git Lab' } })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^penstock: PENSTOCK_SERVICE_NAME must be/)
  })
})
