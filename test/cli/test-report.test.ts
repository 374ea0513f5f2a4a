import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeRequest, type OtlpRequest, type Span } from '@penstock/otlp'
import { refusedUrl } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { finished, penstock, startPenstock } from '../command-line.ts'
import { accepted, bySignal, paths, receiver, tableOf } from './export-receiver.ts'

const reports = join(import.meta.dirname, '../../fixtures/test-reports')
const pytest = join(reports, 'pytest/report.xml')
const mocha = join(reports, 'mocha/report.xml')

const traceId = '0af7651916cd43dd8448eb211c80319c'
const TRACEPARENT = `00-${traceId}-b7ad6b7169203331-01`

/** The variables of a GitLab job. */
const job = {
  CI_PIPELINE_ID: '31',
  CI_PIPELINE_SOURCE: 'push',
  CI_PROJECT_ID: '7',
  CI_PROJECT_TITLE: 'shop',
  CI_PROJECT_URL: 'https://ci.example.com/group/shop',
  CI_COMMIT_REF_NAME: 'main',
  CI_COMMIT_SHA: '2f0f3ab1c1e1f5a0b7c7d1f4b0a9e8d7c6b5a493',
  CI_JOB_ID: '380',
  CI_JOB_NAME: 'unit',
  CI_JOB_STAGE: 'test',
}

const spansIn = (request: OtlpRequest<'traces'>): Span[] =>
  request.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))

function resourceIn(request: OtlpRequest): Record<string, unknown> {
  return Object.fromEntries(request.resources[0]!.resource.attributes.map(({ key, value }) => [key, value]))
}

const printed = (stdoutBytes: Buffer) => decodeRequest('traces', stdoutBytes, 'json')

function temporaryFile(name: string, content: string | Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}

describe('the parent', () => {
  test('is the span of TRACEPARENT', async () => {
    const env = { TRACEPARENT, OTEL_RESOURCE_ATTRIBUTES: 'service.name=tests,a=b%20c' }
    const { exitCode, stdoutBytes, stderr } = await penstock(['test-report', pytest, '--output', '-'], { env })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const spans = spansIn(printed(stdoutBytes))
    expect(spans).toHaveLength(14)
    expect(spans[0]).toMatchObject({ name: 'pytest', traceId, parentSpanId: 'b7ad6b7169203331', flags: 0x301 })
    expect(resourceIn(printed(stdoutBytes))).toEqual({ 'service.name': 'tests', a: 'b c' })
  })

  test('is that of trace-context without one', async () => {
    const context = JSON.parse((await penstock(['trace-context', '--format', 'json'], { env: job })).stdout)
    const { stdoutBytes } = await penstock(['test-report', mocha, '--output', '-'], { env: job })
    const [span] = spansIn(printed(stdoutBytes))
    expect(span).toMatchObject({ traceId: context.trace_id, parentSpanId: context.span_id })
    expect(resourceIn(printed(stdoutBytes))).toEqual({ ...context.resource_attributes, 'service.name': 'shop' })
  })

  test.each([
    [{}, 'penstock: TRACEPARENT is not set, and cannot be computed: '],
    [
      { TRACEPARENT: '00-abc' },
      'penstock: TRACEPARENT is malformed; unset it, or set it with penstock trace-context\n',
    ],
  ])('is required: %j', async (env, message) => {
    const { exitCode, stdout, stderr } = await penstock(['test-report', pytest, '--output', '-'], { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describe('delivery', () => {
  test('sends spans and metrics of all reports with the headers of an export', async () => {
    const server = await receiver()
    const env = { TRACEPARENT, OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-team=one' }
    const outcome = await penstock(['test-report', pytest, mocha, pytest, '--token', 'secret-1'], { env })
    expect(outcome.exitCode, outcome.stderr).toBe(0)
    expect(tableOf(outcome)).toMatchObject({
      traces: ['1', '23 spans', /kB/, '23', '0', '0', '0'].map(matching),
      metrics: expect.arrayContaining(['1', '2 metrics']),
    })
    expect(outcome.stdout).toMatch(/\neverything accepted\n$/)
    expect(outcome.stdout).not.toContain('secret-1')
    expect(paths(server)).toEqual(['/v1/metrics', '/v1/traces'])
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer secret-1', 'x-team': 'one' })
    }
    const sent = server.requests.find(({ path }) => path === '/v1/traces')!
    expect(new Set(spansIn(decodeRequest('traces', sent.body, 'protobuf')).map(({ spanId }) => spanId)).size).toBe(23)
  })

  test('retries, and exits with 1 if something is refused', async () => {
    let attempts = 0
    const server = await receiver((request) => {
      if (request.path === '/v1/metrics') return { play: 'reply', status: 400 }
      attempts += 1
      return attempts === 1 ? { play: 'reply', status: 503, headers: { 'retry-after': '0' } } : accepted
    })
    const outcome = await penstock(['test-report', pytest, '--endpoint', server.url], { env: { TRACEPARENT } })
    expect(outcome.exitCode).toBe(1)
    expect(tableOf(outcome).traces!.slice(3)).toEqual(['14', '0', '0', '1'])
    expect(outcome.stdout).toMatch(/\nsome items were not accepted\n$/)
  })

  test('advises on the endpoint', async () => {
    const server = await receiver(bySignal({ traces: { play: 'reply', status: 404 } }))
    const outcome = await penstock(['test-report', pytest, '--endpoint', server.url], { env: { TRACEPARENT } })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stdout).toContain('/v1/traces does not accept requests; set --endpoint to the base URL')
  })

  test('sends the signals of SVC_OBSERVABILITY_EXPORT', async () => {
    const server = await receiver()
    const env = { TRACEPARENT, SVC_OBSERVABILITY_EXPORT: 'logs,traces' }
    expect((await penstock(['test-report', pytest, '--endpoint', server.url], { env })).exitCode).toBe(0)
    expect(paths(server)).toEqual(['/v1/traces'])
    const off = { TRACEPARENT, SVC_OBSERVABILITY_EXPORT: 'logs' }
    expect((await penstock(['test-report', pytest, '--endpoint', server.url], { env: off })).exitCode).toBe(0)
    expect(server.requests).toHaveLength(1)
  })

  test('a process reads standard input', async () => {
    const server = await receiver()
    const child = startPenstock(['test-report', '-', '--endpoint', server.url], { TRACEPARENT })
    child.stdin.end('<testsuite name="s"><testcase name="a"/></testsuite>')
    const outcome = await finished(child)
    expect(outcome.exitCode, outcome.stderr).toBe(0)
    expect(tableOf(outcome).traces?.[1]).toBe('2 spans')
  })

  test('gives up when the receiver is down', async () => {
    const args = ['test-report', pytest, '--endpoint', await refusedUrl(), '--retry-for', '0.001']
    expect((await penstock(args, { env: { TRACEPARENT } })).exitCode).toBe(1)
  })
})

describe('files', () => {
  test('that are refused are named, and the others are sent', async () => {
    const html = temporaryFile('report.html', '<html/>')
    const laughs = temporaryFile('laughs.xml', '<!DOCTYPE a [<!ENTITY b "c">]><testsuite name="&b;"/>')
    const long = temporaryFile('long.xml', Buffer.alloc(33 * 1024 * 1024, ' '))
    const files = [html, laughs, long, join(reports, 'none.xml'), reports, pytest]
    const outcome = await penstock(['test-report', ...files, '--output', '-'], { env: { TRACEPARENT } })
    expect(outcome.exitCode).toBe(1)
    expect(spansIn(printed(outcome.stdoutBytes))).toHaveLength(14)
    expect(outcome.stderr.split('\n')).toEqual([
      `penstock: ${html}: it is not a JUnit report: its first element must be testsuites or testsuite`,
      `penstock: ${laughs}: line 1: a DOCTYPE with declarations, such as entities, is not allowed`,
      `penstock: ${long}: it is longer than 32 MiB`,
      `penstock: ${join(reports, 'none.xml')}: cannot be read: no such file or directory`,
      `penstock: ${reports}: cannot be read: illegal operation on a directory`,
      '',
    ])
  })

  test('have at most 200,000 cases together', async () => {
    const rows = '<testcase/>'.repeat(150_000)
    const files = ['a.xml', 'b.xml'].map((name) => temporaryFile(name, `<testsuite name="s">${rows}</testsuite>`))
    const outcome = await penstock(['test-report', ...files, '--output', '-'], { env: { TRACEPARENT } })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('the reports have more than 200,000 cases together')
  })
})

test.each([
  [['--output', '-', '--endpoint', 'http://localhost'], '--output and --endpoint exclude each other'],
  [[], 'no receiver was named'],
])('usage: %j', async (flags, message) => {
  const { exitCode, stderr } = await penstock(['test-report', pytest, ...flags], { env: { TRACEPARENT } })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(message)
})

const matching = (expected: string | RegExp) =>
  typeof expected === 'string' ? expected : expect.stringMatching(expected)
