import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { pipelineIdsIn, spansOf } from './json-spans.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const convert = (stdin: string | Buffer, ...flags: string[]): Promise<Outcome> =>
  penstock(['convert', '-', '--signals', 'traces', ...flags], {
    stdin: Readable.from([Buffer.from(stdin)], { objectMode: false }),
  })

const webUrl = (id: number) => `https://ci.example.com/g/p/-/pipelines/${id}`
const pipelineOf = (id: number, more: object = {}) => ({
  id,
  project_id: 42,
  status: 'success',
  ref: 'main',
  created_at: '2026-02-11T09:20:14.000Z',
  updated_at: '2026-02-11T09:20:19.000Z',
  web_url: webUrl(id),
  ...more,
})
const jobOf = (id: number, pipelineId: number, more: object = {}) => ({
  id,
  name: `job-${id}`,
  stage: 'test',
  status: 'success',
  created_at: '2026-02-11T09:20:14.000Z',
  started_at: '2026-02-11T09:20:15.000Z',
  finished_at: '2026-02-11T09:20:17.000Z',
  duration: 2,
  pipeline: pipelineOf(pipelineId),
  ...more,
})

describe('jobs of the REST API', () => {
  const jobs = [jobOf(3, 31), jobOf(4, 32), jobOf(2, 31)]

  test.each([
    ['an array', JSON.stringify(jobs)],
    ['an array over several lines', JSON.stringify(jobs, null, 2)],
    ['a job per line', ndjson(jobs.map((job) => JSON.stringify(job)))],
    ['a page per line', ndjson([JSON.stringify(jobs.slice(0, 1)), JSON.stringify(jobs.slice(1))])],
  ])('%s are converted to one pipeline with its jobs per pipeline', async (_, stdin) => {
    const outcome = await convert(stdin)
    expect(outcome.stderr).toBe('')
    expect(outcome.exitCode).toBe(0)
    expect(pipelineIdsIn(outcome.stdout)).toEqual(['31', '32'])
    expect(spansOf(outcome.stdout).map(({ name }) => name)).toEqual([
      'RUN p',
      'job: job-2',
      'job: job-3',
      'RUN p',
      'job: job-4',
    ])
  })

  test('pages and bridges in several files are one pipeline, in any order', async () => {
    await using directory = await temporaryDirectory()
    const all = Array.from({ length: 250 }, (_, at) => jobOf(at + 1, 31))
    const bridge = jobOf(900, 31, { downstream_pipeline: { id: 40, project_id: 42, web_url: webUrl(40) } })
    const [first, second, third, other] = [
      await directory.file('page-1.json', JSON.stringify([...all.slice(0, 100), jobOf(500, 32)])),
      await directory.file('page-2.json', `${JSON.stringify(all.slice(100, 200))}\n${hookLine(7)}`),
      await directory.file('page-3.json', JSON.stringify(all.slice(200))),
      await directory.file('bridges.json', JSON.stringify([bridge])),
    ]
    await directory.file('no-bridges.json', '[]')
    for (const files of [[directory.path], [third, other, first, second], [second, first, other, third]]) {
      const outcome = await penstock(['convert', ...files, '--signals', 'traces'])
      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
      expect(pipelineIdsIn(outcome.stdout).toSorted()).toEqual(['31', '32', '7'])
      // Two spans each for pipelines 7 and 32, and 252 for pipeline 31.
      expect(spansOf(outcome.stdout)).toHaveLength(256)
    }
    const checked = await penstock(['check', '--format', 'json', first, third, second, other])
    const rows = checked.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    expect(rows.map(({ jobs }) => jobs).toSorted()).toEqual([1, 1, 251])
  })

  test('what is held for a later file has a limit, and is refused once', async () => {
    await using directory = await temporaryDirectory()
    const files = await Promise.all(
      [1, 2, 3].map((page) => directory.file(`${page}.json`, JSON.stringify([jobOf(page, 31)]))),
    )
    const limit = ['--max-file-bytes', '700']
    const { exitCode, stdout, stderr } = await penstock(['convert', ...files, ...limit])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^[^\n]*1\.json: line 1: \[0\]: begins a series of REST jobs longer than 700 bytes[^\n]*\n$/)
  })

  test('an empty page is no failure', async () => {
    expect(await convert('[]')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('one job is converted to its pipeline with that job', async () => {
    const outcome = await convert(JSON.stringify(jobs[0]))
    expect(spansOf(outcome.stdout)).toHaveLength(2)
  })

  test('another body between them ends a group and is converted', async () => {
    const lines = [JSON.stringify(jobs[0]), hookLine(7), JSON.stringify(jobs[1])]
    expect(pipelineIdsIn((await convert(ndjson(lines))).stdout)).toEqual(['31', '7', '32'])
  })

  test('jobs that are longer together than one document are refused', async () => {
    const lines = [...Array.from({ length: 20 }, (_, id) => JSON.stringify(jobOf(id + 1, 31))), hookLine(7)]
    const { exitCode, stdout, stderr } = await convert(ndjson(lines), '--max-file-bytes', '2000')
    expect(exitCode).toBe(1)
    expect(pipelineIdsIn(stdout)).toEqual(['7'])
    expect(stderr).toMatch(/^stdin: line 1: begins a series of REST jobs longer than 2,000 bytes/)
    expect(stderr.split('\n').filter((line) => line !== '')).toHaveLength(2)
  })

  test('an invalid job is refused with its field, and the other pipelines are converted', async () => {
    const { exitCode, stdout, stderr } = await convert(JSON.stringify([{ ...jobs[0], id: 0 }, jobs[1]]))
    expect(exitCode).toBe(1)
    expect(stderr).toContain('stdin: line 1: [0]: jobs[0].id: must be an integer above 0')
    expect(pipelineIdsIn(stdout)).toEqual(['32'])
  })
})

describe('hooks about other events', () => {
  test('are skipped and counted', async () => {
    const others = ['{"object_kind":"push"}', '{"object_kind":"deployment"}', '{"event_name":"user_create"}']
    const lines = [...others, hookLine(1), ...Array(50).fill('{"object_kind":"push"}'), '{"object_kind":"pipeline"}']
    const { exitCode, stdout, stderr } = await convert(ndjson(lines))
    expect(exitCode).toBe(1)
    expect(pipelineIdsIn(stdout)).toEqual(['1'])
    expect(stderr).toBe(
      [
        'stdin: line 55: object_attributes: must be an object, got nothing',
        'stdin: skipped: 53 hooks about other events ("push" 51, "deployment" 1, "user_create" 1)',
        '1 converted, 53 skipped, 1 refused',
        '',
      ].join('\n'),
    )
  })

  test('are no failure if there is no record', async () => {
    expect(await convert('{"object_kind":"push"}')).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'stdin: skipped: 1 hook about another event ("push" 1)\n',
    })
  })

  test('with many different names are counted together', async () => {
    const lines = Array.from({ length: 100 }, (_, number) => JSON.stringify({ object_kind: `kind-${number}` }))
    const { stderr } = await convert(ndjson(lines))
    expect(stderr.split('\n')[0]).toMatch(
      /^stdin: skipped: 100 hooks about other events \(others 90, "kind-0" 1, .*"kind-9" 1\)$/,
    )
  })
})

describe('captured requests', () => {
  const headers = { 'x-gitlab-event': 'Pipeline Hook' }

  test.each([
    ['an object', { headers, body: JSON.parse(hookLine(1)) }],
    ['a text', { headers, body: hookLine(1) }],
    ['a payload', { headers, payload: hookLine(1) }],
  ])('with the body as %s', async (_, captured) => {
    const outcome = await convert(JSON.stringify([captured, { headers, body: '{"object_kind":"push"}' }]))
    expect(outcome.exitCode).toBe(0)
    expect(pipelineIdsIn(outcome.stdout)).toEqual(['1'])
  })

  test('ids above 2^53 stay exact within a text', async () => {
    const { stdout } = await convert(
      JSON.stringify({ headers, body: hookLine(1).replace('"id":1,', '"id":9007199254740993,') }),
    )
    expect(pipelineIdsIn(stdout)).toEqual(['9007199254740993'])
  })

  test('with a body that is not JSON', async () => {
    const { exitCode, stderr } = await convert(JSON.stringify({ headers, body: 'a=b&c=d' }))
    expect(exitCode).toBe(1)
    expect(stderr).toBe('stdin: line 1: body of a captured request: is not valid JSON\n')
  })
})

describe('encodings', () => {
  const lines = ndjson([hookLine(1), hookLine(2)])

  test.each([
    ['gzip', gzipSync(lines)],
    ['UTF-16', Buffer.from(`\ufeff${lines}`, 'utf16le')],
    ['gzip of UTF-16', gzipSync(Buffer.from(`\ufeff${lines}`, 'utf16le'))],
  ])('%s', async (_, bytes) => {
    const outcome = await convert(bytes)
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
    expect(pipelineIdsIn(outcome.stdout)).toEqual(['1', '2'])
  })

  test('files of a directory are recognised by their names', async () => {
    await using directory = await temporaryDirectory()
    await directory.file('a.json.gz', gzipSync(JSON.stringify(JSON.parse(hookLine(1)), null, 2)))
    await directory.file('b.ndjson.gz', gzipSync(`nonsense\n${hookLine(2)}`))
    await directory.file('c.log.gz', gzipSync('nonsense'))
    const outcome = await penstock(['convert', directory.path])
    expect(pipelineIdsIn(outcome.stdout)).toEqual(['1', '2'])
    expect(outcome.stderr).toContain('b.ndjson.gz: line 1, column 2: is not valid JSON')
  })

  test('the limit applies to the inflated document', async () => {
    await using directory = await temporaryDirectory()
    const file = await directory.file('bomb.json.gz', gzipSync(`{\n${' '.repeat(5_000_000)}}`))
    const { exitCode, stderr } = await penstock(['convert', file, '--max-file-bytes', '1000000'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('bomb.json.gz: is longer than 1,000,000 bytes')
  })

  test('unreadable inputs are refused with advice', async () => {
    expect((await convert(gzipSync(lines).subarray(0, 40))).stderr).toBe('stdin: is gzip that is cut off or damaged\n')
    expect((await convert('PK\u0003\u0004...')).stderr).toBe('stdin: is a zip archive; unpack it first\n')
  })
})

test.each([
  ['{"message":"401 Unauthorized"}', 'is an error answer of an API (401), not a record; check the URL and the token'],
  ['{"id":1,"run_id":2,"run_url":"x","status":"completed"}', 'is a job of GitHub Actions (1) without its run'],
  [JSON.stringify(pipelineOf(31, { sha: 'f' })), 'is a pipeline of the REST API (31) without its jobs'],
  ['<!DOCTYPE html>\n<html>', 'is HTML'],
  ['object_kind: pipeline\n', 'is not valid JSON'],
])('%s is refused with advice', async (stdin, advice) => {
  const { exitCode, stderr } = await convert(stdin)
  expect(exitCode).toBe(1)
  expect(stderr).toContain(advice)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})
