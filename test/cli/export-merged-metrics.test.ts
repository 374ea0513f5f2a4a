import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AggregationTemporality, decodeRequest, type Encoding, type Metric } from '@penstock/otlp'
import { ManualClock, type RecordedRequest, type ScriptedServer } from '@penstock/testkit'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'
import { accepted, receiver, signalOf, tableOf } from './export-receiver.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const push = caseFile('push-pipeline-five-jobs-three-stages')

describe('merged metrics', () => {
  function metricsOf({ body }: RecordedRequest, encoding: Encoding = 'protobuf'): ReadonlyMap<string, Metric> {
    const { resources } = decodeRequest('metrics', body, encoding)
    const metrics = resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
    return new Map(metrics.map((metric) => [metric.name, metric]))
  }

  /** Returns value, start and time of the only point of the run counter. */
  function runCount(request: RecordedRequest | undefined) {
    const data = request && metricsOf(request).get('cicd.pipeline.run.count')?.data
    if (data?.type !== 'sum') throw new Error('no run counter')
    expect(data.dataPoints).toHaveLength(1)
    const { value, startTimeUnixNano: startNs, timeUnixNano: timeNs } = data.dataPoints[0]!
    return { value: value?.value, startNs, timeNs, temporality: data.aggregationTemporality }
  }

  const lines = (first: number, count: number) => ndjson(Array.from({ length: count }, (_, at) => hookLine(first + at)))

  const cumulative = ({ url }: ScriptedServer) => [
    'export',
    '-',
    '--endpoint',
    url,
    '--metrics-mode',
    'cumulative',
    '--signals',
    'metrics',
  ]

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

  test('cumulative: totals continue from run to run', async () => {
    await using directory = await temporaryDirectory()
    const state = join(directory.path, 'totals.json')
    const server = await receiver()
    const args = [...cumulative(server), '--state', state]
    expect((await penstock(args, { clock: new ManualClock(5_000), stdin: lines(1, 2) })).exitCode).toBe(0)
    expect((await penstock(args, { clock: new ManualClock(9_000), stdin: lines(3, 3) })).exitCode).toBe(0)
    expect(server.requests.map(runCount)).toEqual([
      { value: 2n, startNs: 5_000_000_000n, timeNs: 5_000_000_001n, temporality: AggregationTemporality.CUMULATIVE },
      { value: 5n, startNs: 5_000_000_000n, timeNs: 9_000_000_000n, temporality: AggregationTemporality.CUMULATIVE },
    ])
  })

  test('a total that was not accepted is not stored', async () => {
    await using directory = await temporaryDirectory()
    const state = join(directory.path, 'totals.json')
    const server = await receiver((_, index) => (index === 0 ? { play: 'reply', status: 400 } : accepted))
    const args = [...cumulative(server), '--state', state]
    expect((await penstock(args, { stdin: lines(1, 2) })).exitCode).toBe(1)
    expect(existsSync(state)).toBe(false)
    expect((await penstock(args, { stdin: lines(1, 2) })).exitCode).toBe(0)
    expect(runCount(server.requests[1]).value).toBe(2n)
    const before = await readFile(state, 'utf8')
    const refusing = await receiver(() => ({ play: 'reply', status: 400 }))
    expect((await penstock([...args, '--endpoint', refusing.url], { stdin: lines(3, 1) })).exitCode).toBe(1)
    expect(await readFile(state, 'utf8')).toBe(before)
  })

  test('refused metrics of one project do not affect the totals of another', async () => {
    const server = await receiver((_, index) => (index === 3 ? { play: 'reply', status: 400 } : accepted))
    const args = cumulative(server)
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

  test('totals of accepted metrics are stored, even if others were refused', async () => {
    await using directory = await temporaryDirectory()
    const server = await receiver((_, index) => (index === 1 ? { play: 'reply', status: 401 } : accepted))
    const args = cumulative(server)
    const all = [...args, '--concurrency', '1', '--state', join(directory.path, 'totals.json')]
    const both = ndjson([hookLine(1), hookLine(2).replaceAll('tide-tables', 'b')])
    expect((await penstock(all, { stdin: both })).exitCode).toBe(1)
    expect((await penstock(all, { stdin: both })).exitCode).toBe(0)
    expect(server.requests.map((request) => runCount(request).value)).toEqual([1n, 1n, 2n, 1n])
  })

  test('exits with 1 and prints the table if totals cannot be written', async () => {
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

  test('without a state file, totals begin with the run', async () => {
    const server = await receiver()
    const args = cumulative(server)
    await penstock(args, { stdin: lines(1, 600) })
    expect(server.requests.map((request) => runCount(request).value)).toEqual([500n, 600n])
  })

  test('a refused token ends the run', async () => {
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
  ])('a state file with $content is refused', async ({ content }) => {
    await using directory = await temporaryDirectory()
    const state = await directory.file('totals.json', content)
    const args = ['export', push, '--endpoint', 'http://127.0.0.1:9', '--metrics-mode', 'cumulative', '--state', state]
    const { exitCode, stderr } = await penstock(args)
    expect(exitCode).toBe(2)
    expect(stderr).toBe(`penstock: ${state} is not a state file of penstock export; remove it to start from zero\n`)
  })

  test('a state file in a missing directory is refused', async () => {
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
