import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { convert, resolveOptions } from '@penstock/converter'
import { type PipelineRecord, readInput } from '@penstock/forges'
import type { Metric } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { bodiesOf, caseFile, caseNames, fixtures } from '../fixtures.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { pipelineIdsIn } from './json-spans.ts'

test('prints the kind of each record, and the missing attributes with the reason', async () => {
  const file = caseFile('push-pipeline-five-jobs-three-stages')
  const { exitCode, stdout, stderr } = await penstock(['check', file])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout.split('\n')).toEqual([
    `${file}: pipeline hook of pipeline 31, success, 5 jobs: would be exported`,
    '  pipeline span and log record: cannot be filled',
    '    pipeline.name: object_attributes.name is null',
    '    pipeline.merge_request.id: merge_request is null',
    '    pipeline.merge_request.iid: merge_request is null',
    '    vcs.change.id: merge_request is null',
    '    vcs.change.title: merge_request is null',
    '    vcs.change.state: merge_request is null',
    '    vcs.ref.base.name: merge_request is null',
    '    vcs.ref.base.type: merge_request is null',
    '    pipeline.source_pipeline.pipeline_id, svc.cicd.pipeline.source_pipeline.id: source_pipeline is missing',
    '  spans and log records of jobs: cannot be filled',
    '    job.artifacts.filename, svc.cicd.pipeline.task.artifacts.filename: 3 of 5 jobs: artifacts_file.filename is null',
    '    job.artifacts.size, svc.cicd.pipeline.task.artifacts.size: 3 of 5 jobs: artifacts_file.size is null',
    '    job.environment.name, svc.cicd.pipeline.task.environment.name: 4 of 5 jobs: environment is null',
    '    job.environment.action, svc.cicd.pipeline.task.environment.action: 4 of 5 jobs: environment is null',
    '    job.environment.deployment_tier, svc.cicd.pipeline.task.environment.deployment_tier: 4 of 5 jobs: environment is null',
    '    svc.cicd.pipeline.task.run.attempt: 5 of 5 jobs: retries_count is missing',
    '',
  ])
})

test.each([
  {
    name: 'job-hook-alone',
    first:
      /: job hook of job \d+: adds to pipeline 88417, and is not exported by itself; the pipeline hook must follow$/m,
  },
  { name: 'rest-bundle-push-pipeline', first: /: REST bundle of pipeline 36, success, 3 jobs: would be exported$/m },
  {
    name: 'e01-status-running',
    first: /: pipeline hook of pipeline \d+, running, .*: would be skipped: not final \(running\)$/m,
  },
  { name: 'wrong-typed-optional-fields', first: /^ {2}warning: object_attributes\.\w+: must be /m },
])('$name', async ({ name, first }) => {
  const { exitCode, stdout } = await penstock(['check', caseFile(name)])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(first) })
})

test('a refused record is named, and the others are checked', async () => {
  const stdin = `${hookLine(1)}\n${hookLine(0)}\n{"broken\n${hookLine(2)}\n`
  const { exitCode, stdout } = await penstock(['check', '-'], { stdin })
  expect(exitCode).toBe(1)
  expect(stdout.split('\n').filter((line) => line.startsWith('stdin'))).toEqual([
    'stdin: line 1: pipeline hook of pipeline 1, success, 1 job: would be exported',
    'stdin: line 2: refused: object_attributes.id: must be an integer above 0, got 0',
    expect.stringMatching(/^stdin: line 3: refused: /),
    'stdin: line 4: pipeline hook of pipeline 2, success, 1 job: would be exported',
  ])
})

test.each(readdirSync(join(fixtures, 'refused')).filter((name) => !name.endsWith('.expected.json')))(
  '%s is refused here too',
  async (name) => {
    const { exitCode, stdout } = await penstock(['check', join(fixtures, 'refused', name), '--format', 'json'])
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect({ exitCode, refused: records.some(({ refused }) => refused !== undefined) }).toEqual({
      exitCode: 1,
      refused: true,
    })
  },
)

const restJob = (id: number, pipelineId: number) => ({
  id,
  name: `job-${id}`,
  stage: 'test',
  status: 'success',
  created_at: '2026-02-11T09:20:14.000Z',
  finished_at: '2026-02-11T09:20:17.000Z',
  pipeline: { id: pipelineId, project_id: 42, status: 'success', ref: 'main', sha: 'f' },
})

describe('reads the same inputs as convert', () => {
  const headers = { 'x-gitlab-event': 'Pipeline Hook' }
  const inputs: readonly (readonly [string, string])[] = [
    ['an array of REST jobs', JSON.stringify([restJob(3, 31), restJob(4, 32), restJob(2, 31)])],
    ['a REST job per line', ndjson([restJob(3, 31), restJob(2, 31)].map((job) => JSON.stringify(job)))],
    ['pages of REST jobs', JSON.stringify([[restJob(3, 31)], [restJob(2, 31)]])],
    ['one REST job', JSON.stringify(restJob(3, 31))],
    ['a REST job with a bad id', JSON.stringify([restJob(0, 31), restJob(2, 32)])],
    ['a captured request', JSON.stringify({ headers, body: hookLine(1) })],
    ['a captured request about another event', JSON.stringify({ headers, body: { object_kind: 'push' } })],
    ['a captured request without JSON', JSON.stringify({ headers, body: 'a=b' })],
    ['hooks about other events', ndjson(['{"object_kind":"push"}', '{"event_name":"user_create"}', hookLine(1)])],
    ['a hook about another event alone', '{"object_kind":"deployment"}'],
    ['a REST pipeline without jobs', '{"id":31,"status":"success","sha":"f"}'],
  ]

  test.each(inputs)('%s', async (_, stdin) => {
    const converted = await penstock(['convert', '-', '--signals', 'traces'], { stdin })
    const { exitCode, stdout } = await penstock(['check', '-', '--format', 'json'], { stdin })
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const exported = records.filter((record) => record.exported).map((record) => record.pipeline_id)
    expect({ exitCode, exported }).toEqual({
      exitCode: converted.exitCode,
      exported: pipelineIdsIn(converted.stdout),
    })
  })

  test('names jobs of the REST API', async () => {
    const stdin = JSON.stringify([restJob(3, 31), restJob(4, 32), restJob(2, 31)])
    const { stdout } = await penstock(['check', '-'], { stdin })
    expect(stdout.split('\n').filter((line) => line.startsWith('stdin'))).toEqual([
      'stdin: line 1: [0]: REST jobs of pipeline 31, success, 2 jobs: would be exported',
      'stdin: line 1: [1]: REST jobs of pipeline 32, success, 1 job: would be exported',
    ])
  })

  test('a hook about another event is named, and would be skipped', async () => {
    const stdin = '{"object_kind":"push"}'
    expect((await penstock(['check', '-'], { stdin })).stdout).toBe(
      'stdin: line 1: hook about another event ("push"): would be skipped\n',
    )
    expect(JSON.parse((await penstock(['check', '-', '--format', 'json'], { stdin })).stdout)).toEqual({
      file: 'stdin',
      line: 1,
      recognised_as: 'other hook',
      event: 'push',
      exported: false,
      skipped_because: 'hook about another event',
    })
  })

  test('REST jobs longer than one document are refused', async () => {
    const stdin = ndjson(Array.from({ length: 20 }, (_, id) => JSON.stringify(restJob(id + 1, 31))))
    const { exitCode, stdout } = await penstock(['check', '-', '--max-file-bytes', '2000'], { stdin })
    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout: expect.stringMatching(/^stdin: line 1: refused: begins a series of REST jobs longer than 2,000 bytes/),
    })
  })
})

interface CheckedRow {
  readonly part: string
  readonly attributes: readonly string[]
  readonly jobs_without?: number
}

test('REST jobs are checked as their pipelines, and hooks about other events are no failure', async () => {
  const jobs = await penstock(['check', caseFile('rest-jobs-of-two-pipelines')])
  expect(jobs.exitCode).toBe(0)
  expect(jobs.stdout).toMatch(/\[0\]: REST jobs of pipeline 611, success, 3 jobs: would be exported\n/)
  expect(jobs.stdout).toMatch(/\[1\]: REST jobs of pipeline 612, failed, 1 job: would be exported\n/)
  const others = await penstock(['check', caseFile('other-hooks-between-pipelines')])
  expect(others.exitCode).toBe(0)
  expect(others.stdout).toContain('[0]: hook about another event ("push"): would be skipped\n')
})

test('with extraAttributes, a job without coverage is reported by its field', async () => {
  const file = caseFile('rest-jobs-of-two-pipelines')
  const { stdout } = await penstock(['check', file, '--extra-attributes', '--format', 'json'])
  const [first] = stdout.split('\n').map((line) => JSON.parse(line || '{}'))
  expect(first.missing).toContainEqual(
    expect.objectContaining({
      attributes: ['svc.cicd.pipeline.task.run.coverage'],
      needs: ['jobs[].coverage'],
      jobs_without: 2,
    }),
  )
})

test('in every fixture, an attribute or metric is either sent or reported as missing', async () => {
  for (const name of caseNames) {
    const inputs = bodiesOf(name).map((body) => readInput(body, { receivedAtNs: undefined }))
    const { exitCode, stdout } = await penstock([
      'check',
      caseFile(name),
      '--format',
      'json',
      '--received-at',
      '2026-03-01T00:00:00Z',
    ])
    expect({ name, exitCode }).toEqual({ name, exitCode: 0 })
    const checked = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ recognised_as }) => recognised_as !== 'other hook')
    expect({ name, count: checked.length }).toEqual({ name, count: inputs.length })
    for (const [at, input] of inputs.entries()) {
      if (input.kind === 'job') continue
      const rows: CheckedRow[] = [...checked[at].missing, ...checked[at].not_applicable]
      const reported = rows
        .filter(({ part }) => part !== 'job')
        .flatMap(({ part, attributes }) => attributes.map((key) => `${part} ${key}`))
      const sent = sentBy(input.record)
      expect({ name, both: reported.filter((key) => sent.has(key)) }).toEqual({ name, both: [] })
      for (const { attributes, jobs_without } of checked[at].missing.filter(({ part }: CheckedRow) => part === 'job')) {
        const withIt = sent.get(`job ${attributes[0]}`) ?? 0
        const applicable = attributes[0] === 'job.failure_reason' ? failedIn(input.record) : input.record.jobs.length
        expect({ name, attributes, without: jobs_without }).toEqual({ name, attributes, without: applicable - withIt })
      }
    }
  }
})

const failedIn = ({ jobs }: PipelineRecord): number => jobs.filter(({ status }) => status === 'failed').length

/** The metric that every pipeline has, with the attributes of all metrics. */
const plainMetric = 'cicd.pipeline.run.count'

function metricKeys({ name, data }: Metric): string[] {
  const points = name === plainMetric ? (data?.dataPoints ?? []) : []
  return [`metric ${name}`, ...points.flatMap(({ attributes }) => attributes.map(({ key }) => `point ${key}`))]
}

/** Returns how often each attribute and metric is sent, by its part of the output. */
function sentBy(record: PipelineRecord): Map<string, number> {
  const dated = { ...record, receivedAtNs: record.receivedAtNs ?? 1_772_323_200_000_000_000n }
  const { traces, metrics } = convert(dated, resolveOptions())
  const sent: string[] = []
  for (const { resource, scopes } of traces.resources) {
    sent.push(...(resource?.attributes ?? []).map(({ key }) => `resource ${key}`))
    for (const { attributes } of scopes.flatMap(({ items }) => items)) {
      const part = attributes.some(({ key }) => key === 'cicd.pipeline.task.run.id') ? 'job' : 'pipeline'
      sent.push(...attributes.map(({ key }) => `${part} ${key}`))
    }
  }
  for (const { scopes } of metrics.resources) sent.push(...scopes.flatMap(({ items }) => items.flatMap(metricKeys)))
  const counts = new Map<string, number>()
  for (const key of sent) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
