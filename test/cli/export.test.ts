import { Readable } from 'node:stream'
import { encodeExportResponse, encodeRpcStatus } from '@penstock/otlp'
import { Gate, ManualClock, refusedUrl } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { accepted, bySignal, paths, receiver, tableOf } from './export-receiver.ts'
import { hookLine, ndjson } from './hook-line.ts'

const push = caseFile('push-pipeline-five-jobs-three-stages')
describe('delivery', () => {
  test('exits with 0 if everything was accepted', async () => {
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

  test('sends one signal as JSON from standard input', async () => {
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
  ])('reads token and endpoint from $env', async ({ env, sent }) => {
    const server = await receiver()
    const args = ['export', push, '--signals', 'traces']
    const { exitCode } = await penstock(args, { env: { PENSTOCK_EXPORT_ENDPOINT: server.url, ...env } })
    expect(exitCode).toBe(0)
    expect(server.requests[0]?.headers.authorization).toBe(sent)
  })

  test('headers are sent, and flags take precedence over variables', async () => {
    const server = await receiver()
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=one,x-scope=all%20of%20it,Authorization=Basic%20abc',
      PENSTOCK_EXPORT_TOKEN: 'of-the-job',
    }
    await penstock(['export', push, '--endpoint', server.url], { env })
    const flags = ['--header', 'X-Team=two', '--header', 'authorization=Basic x=y']
    await penstock(['export', push, '--endpoint', server.url, ...flags], { env })
    expect([server.requests[0]?.headers, server.requests.at(-1)?.headers]).toMatchObject([
      { 'x-team': 'one', 'x-scope': 'all of it', authorization: 'Bearer of-the-job' },
      { 'x-team': 'two', 'x-scope': 'all of it', authorization: 'Basic x=y' },
    ])
  })

  test.each([
    [['--header', 'canary-7'], '--header number 1 must be a name and a value with = between them'],
    [['--header', 'host=canary-7'], '--header: the header host is set by the request itself'],
    [
      ['--header', 'authorization=canary-7', '--token', 'canary-8'],
      '--token and --header authorization are two credentials; use one of them',
    ],
  ])('refuses %j without its value', async (flags, complaint) => {
    const { exitCode, stderr } = await penstock(['export', push, '--endpoint', 'http://127.0.0.1:9', ...flags])
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `penstock: ${complaint}\n` })
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
    expect(outcome.stdout).toMatch(/^(?:traces|metrics|logs): HTTP 401 Unauthorized: token \[secret\] expired$/m)
    expect(outcome.stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^some items were not accepted; stopped: HTTP 401 Unauthorized/,
    )
    expect(outcome.stdout + outcome.stderr).not.toContain('secret-1')
  })

  test('a refused token ends the run even while the input sends nothing', async () => {
    const server = await receiver(() => ({ play: 'reply', status: 401 }))
    const stdin = new Readable({ read() {} })
    stdin.push(ndjson([hookLine(1)]))
    const args = ['export', '-', '--endpoint', server.url, '--signals', 'traces']
    const outcome = await penstock(args, { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).traces?.[0]).toBe('1')
    expect(outcome.stdout).toContain('some items were not accepted; stopped: HTTP 401 Unauthorized')
    expect(outcome.stderr).toBe('')
    expect(stdin.destroyed).toBe(true)
  })

  test('if no signal may be sent, the rest of the input is not converted', async () => {
    const server = await receiver(() => ({ play: 'reply', status: 403 }))
    const stdin = ndjson(Array.from({ length: 2_000 }, (_, at) => hookLine(at + 1)))
    const outcome = await penstock(['export', '-', '--endpoint', server.url, '--signals', 'traces,logs'], { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(Number(tableOf(outcome).traces?.[0])).toBeLessThan(200)
    expect(outcome.stdout).toContain('some items were not accepted; stopped: HTTP 403 Forbidden')
  })

  test('exits with 1 after a partial success', async () => {
    const body = Buffer.from(encodeExportResponse('traces', { rejected: 2n, message: 'two too old' }, 'protobuf'))
    const server = await receiver(
      bySignal({ traces: { ...accepted, headers: { 'content-type': 'application/x-protobuf' }, body } }),
    )
    const outcome = await penstock(['export', push, '--endpoint', server.url])
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).traces?.slice(3)).toEqual(['4', '2', '0', '0'])
    expect(outcome.stdout).toContain('traces: two too old')
    expect(outcome.stdout).toContain('some items were not accepted')
  })

  test('retries after 503', async () => {
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

  test('an unreachable receiver', async () => {
    const url = await refusedUrl()
    const outcome = await penstock(['export', push, '--endpoint', url, '--signals', 'logs', '--retry-for', '0.05'])
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).logs?.slice(3, 6)).toEqual(['0', '0', '6'])
    expect(outcome.stdout).toMatch(/^logs: gave up after \d+ attempts: /m)
  })

  test('a failing signal does not delay the others', async () => {
    const server = await receiver(bySignal({ metrics: { play: 'reply', status: 400, body: 'no metrics here' } }))
    const outcome = await penstock(['export', push, '--endpoint', server.url])
    expect(outcome.exitCode).toBe(1)
    const { traces, metrics, logs } = tableOf(outcome)
    expect([traces, metrics, logs].map((row) => row?.[5])).toEqual(['0', '10', '0'])
  })

  test('exits with 1 if a record is refused and the others are accepted', async () => {
    const server = await receiver()
    const stdin = ndjson([hookLine(1), '{"object_kind":"pipeline"}', hookLine(3)])
    const outcome = await penstock(['export', '-', '--endpoint', server.url, '--signals', 'traces'], { stdin })
    expect(outcome.exitCode).toBe(1)
    expect(server.requests).toHaveLength(2)
    expect(outcome.stderr).toContain('stdin: line 2: object_attributes: must be an object')
    expect(outcome.stdout).toContain('everything that was sent was accepted')
  })

  test('exits with 0 if there is nothing to export', async () => {
    const server = await receiver()
    const stdin = hookLine(1, { status: 'running' })
    const { exitCode, stdout } = await penstock(['export', '-', '--endpoint', server.url], { stdin })
    expect({ exitCode, requests: server.requests.length }).toEqual({ exitCode: 0, requests: 0 })
    expect(stdout).toContain('0 spans')
  })

  test('an interruption ends the run with 130, and the table shows what was sent', async () => {
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
    expect(outcome.stdout).toContain('some items were not accepted; stopped: interrupted')
    expect(outcome.stderr).not.toContain('    at ')
  })
})

describe('the signals of the variable for CI jobs', () => {
  const run = async (value: string, flags: readonly string[] = []) => {
    const server = await receiver()
    const env = { SVC_OBSERVABILITY_EXPORT: value, PENSTOCK_EXPORT_ENDPOINT: server.url }
    const { exitCode, stdout, stderr } = await penstock(['export', push, ...flags], { env })
    return { exitCode, stdout, stderr, paths: paths(server) }
  }

  test('are the only ones sent, and unknown words cause a warning', async () => {
    expect(await run(' Logs,traces,logs,spans')).toMatchObject({
      exitCode: 0,
      stderr: 'penstock: warning: SVC_OBSERVABILITY_EXPORT: no signal: spans; signals are traces, metrics, logs\n',
      paths: ['/v1/logs', '/v1/traces'],
    })
  })

  test('are overridden by the flag', async () => {
    expect(await run('logs', ['--signals', 'traces'])).toMatchObject({ exitCode: 0, stderr: '', paths: ['/v1/traces'] })
  })

  test('turn the export off without a failure if there are none', async () => {
    expect(await run('')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'penstock: nothing to export: SVC_OBSERVABILITY_EXPORT names no signal\n',
      paths: [],
    })
  })
})

describe('invalid arguments', () => {
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
    { flags: [], complaint: 'no receiver was named; set --endpoint or PENSTOCK_EXPORT_ENDPOINT' },
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
      complaint: 'the token contains a character that is invalid in a header; check it for blanks and line breaks',
    },
    {
      flags: ['--endpoint', 'http://collector', '--state', 'totals.json'],
      complaint: '--state is for cumulative totals; add --metrics-mode cumulative',
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

  test('refuses an invalid service name', async () => {
    const { exitCode, stderr } = await penstock(['convert', push], { env: { PENSTOCK_SERVICE_NAME: 'Git Lab' } })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^penstock: PENSTOCK_SERVICE_NAME must be/)
  })
})
