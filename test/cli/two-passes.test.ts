import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type Outcome, penstock } from '../command-line.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { attributeOf, type JsonSpan, spansOf } from './json-spans.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const times = {
  created_at: '2026-02-11T09:20:14.000Z',
  started_at: '2026-02-11T09:20:15.000Z',
  finished_at: '2026-02-11T09:20:19.000Z',
}
const project = { id: 42, name: 'tide-tables', web_url: 'https://ci.example.com/harbour/tide-tables' }
const webUrl = (id: number, of = project) => `${of.web_url}/-/pipelines/${id}`

/** Returns a REST bundle; `started` are the pipelines that its bridges have started, by id of the bridge. */
function bundle(id: number, started: Readonly<Record<number, number>> = {}, more: object = {}) {
  const bridges = Object.entries(started).map(([bridgeId, downstream]) => ({
    id: Number(bridgeId),
    name: `trigger-${downstream}`,
    stage: 'deploy',
    status: 'success',
    ...times,
    downstream_pipeline: { id: downstream, project_id: 42, status: 'success', web_url: webUrl(downstream) },
  }))
  const jobs = [{ id: id * 10, name: `job-${id}`, stage: 'test', status: 'success', duration: 4, ...times }]
  return {
    project,
    pipeline: { id, project_id: 42, status: 'success', ...times, web_url: webUrl(id) },
    jobs,
    bridges,
    ...more,
  }
}

const convertLines = (bodies: readonly object[], ...flags: string[]): Promise<Outcome> =>
  penstock(['convert', '-', '--whole-stream', '--signals', 'traces', ...flags], {
    stdin: ndjson(bodies.map((body) => JSON.stringify(body))),
  })

/** Returns the span of each pipeline, by the pipeline id. */
function runsOf({ stdout }: Outcome): Record<string, JsonSpan> {
  const runs = spansOf(stdout).filter((span) => attributeOf(span, 'pipeline.id') !== undefined)
  return Object.fromEntries(runs.map((span) => [attributeOf(span, 'pipeline.id'), span]))
}
const jobSpan = ({ stdout }: Outcome, id: number) =>
  spansOf(stdout).find((span) => attributeOf(span, 'job.id') === String(id))

const orders = <T>([a, b, c]: readonly [T, T, T]): T[][] => [
  [a, b, c],
  [a, c, b],
  [b, a, c],
  [b, c, a],
  [c, a, b],
  [c, b, a],
]

describe('a REST parent, its child and its grandchild', () => {
  const family = [bundle(31, { 900: 32 }), bundle(32, { 901: 33 }), bundle(33)] as const

  test.each(orders<object>(family))('are one trace, in any order', async (...bodies) => {
    const outcome = await convertLines(bodies)
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
    const { 31: parent, 32: child, 33: grandchild } = runsOf(outcome)
    expect(new Set([parent, child, grandchild].map((span) => span?.traceId)).size).toBe(1)
    expect(parent?.parentSpanId).toBeUndefined()
    expect(child?.parentSpanId).toBe(jobSpan(outcome, 900)?.spanId)
    expect(grandchild?.parentSpanId).toBe(jobSpan(outcome, 901)?.spanId)
    expect(attributeOf(child!, 'svc.cicd.pipeline.source_pipeline.id')).toBe('31')
    for (const span of [child!, grandchild!]) expect(attributeOf(span, 'svc.cicd.root.resolved')).toBeUndefined()
  })

  test('form the same trace as the same family from hooks', async () => {
    const parent = bundle(31, { 900: 32 })
    const source = { project: { id: 42 }, pipeline_id: 31, job_id: 900 }
    const stated = await convertLines([parent, { ...bundle(32), source_pipeline: source }])
    const learnt = await convertLines([bundle(32), parent])
    expect(runsOf(learnt)['32']).toEqual(runsOf(stated)['32'])
  })

  test('are one trace over several files', async () => {
    await using directory = await temporaryDirectory()
    const files = await Promise.all(
      family.toReversed().map((body, index) => directory.file(`${index}.json`, JSON.stringify(body, null, 2))),
    )
    const { 31: parent, 33: grandchild } = runsOf(await penstock(['convert', ...files]))
    expect(grandchild?.traceId).toBe(parent?.traceId)
  })

  test('from REST jobs alone are one trace', async () => {
    const ofJobs = ({ pipeline, jobs, bridges }: (typeof family)[0]) =>
      [...jobs, ...bridges].map((job) => ({ ...job, pipeline }))
    const outcome = await penstock(['convert', '-', '--whole-stream'], {
      stdin: JSON.stringify(family.toReversed().flatMap(ofJobs)),
    })
    const { 31: parent, 33: grandchild } = runsOf(outcome)
    expect(grandchild?.traceId).toBe(parent?.traceId)
    expect(grandchild?.parentSpanId).toBe(jobSpan(outcome, 901)?.spanId)
  })
})

test('a pipeline that a bridge has started in another project links to it', async () => {
  const other = { id: 7, name: 'other', web_url: 'https://ci.example.com/harbour/other' }
  const upstream = bundle(31)
  const downstream = { id: 32, project_id: 7, web_url: webUrl(32, other) }
  const bridges = [{ id: 900, name: 'trigger', status: 'success', ...times, downstream_pipeline: downstream }]
  const started = {
    ...bundle(32),
    project: other,
    pipeline: { ...bundle(32).pipeline, project_id: 7, web_url: webUrl(32, other) },
  }
  const outcome = await convertLines([started, { ...upstream, bridges }])
  const { 31: parent, 32: run } = runsOf(outcome) as unknown as Record<string, { traceId: string; links?: unknown }>
  expect(run?.traceId).not.toBe(parent?.traceId)
  expect(run?.links).toMatchObject([{ traceId: parent?.traceId, spanId: jobSpan(outcome, 900)?.spanId }])
})

describe('under bridgeSource auto, the record of the parent decides whether its bridge has a span', () => {
  const source = { project: { id: 42 }, pipeline_id: 31, job_id: 900 }
  const child = (more: object = {}) => ({ ...JSON.parse(hookLine(32)), source_pipeline: source, ...more })
  const parent = (more: object = {}) => ({ ...JSON.parse(hookLine(31)), ...more })
  const bridges = [{ id: 900, name: 'trigger', stage: 'deploy', status: 'success', ...times }]

  test.each([['before'], ['after']])(
    'a child without bridges in its own hook is below it, if it comes %s the parent',
    async (when) => {
      const bodies = [child(), parent({ bridges })]
      const outcome = await convertLines(when === 'before' ? bodies : bodies.toReversed())
      expect(runsOf(outcome)['32']?.parentSpanId).toBe(jobSpan(outcome, 900)?.spanId)
    },
  )

  test('a child that lists bridges is not below a bridge that the parent does not list', async () => {
    const outcome = await convertLines([child({ bridges: [] }), parent()])
    const { 31: run, 32: started } = runsOf(outcome)
    expect(started?.parentSpanId).toBe(run?.spanId)
  })

  test('without the record of the parent, the hook of the child decides', async () => {
    const bridgeSpanId = jobSpan(await convertLines([parent({ bridges })]), 900)?.spanId
    expect(runsOf(await convertLines([child({ bridges: [] })]))['32']?.parentSpanId).toBe(bridgeSpanId)
    expect(runsOf(await convertLines([child()]))['32']?.parentSpanId).not.toBe(bridgeSpanId)
  })
})

test('a job hook that comes after its pipeline completes it', async () => {
  const hook = {
    object_kind: 'build',
    build_id: 310,
    build_status: 'success',
    pipeline_id: 31,
    retries_count: 2,
    project,
  }
  const outcome = await convertLines([JSON.parse(hookLine(31)), hook, { ...hook, retries_count: 1 }, hook])
  expect(attributeOf(jobSpan(outcome, 310)!, 'svc.cicd.pipeline.task.run.attempt')).toBe('3')
})

describe('inputs that cannot be read twice', () => {
  const child = JSON.stringify(bundle(32))
  const parent = JSON.stringify(bundle(31, { 900: 32 }))
  const convert = (stdin: string, ...flags: string[]) =>
    penstock(['convert', '-', '--signals', 'traces', ...flags], {
      stdin: Readable.from(
        [...stdin.matchAll(/.{1,700}/gs)].map(([piece]) => Buffer.from(piece)),
        { objectMode: false },
      ),
    })
  const isOneTrace = (outcome: Outcome) => {
    const { 31: one, 32: other } = runsOf(outcome)
    return one?.traceId === other?.traceId
  }

  test('are kept in memory with --whole-stream, up to the limit for a document', async () => {
    const outcome = await convert(`${child}\n${parent}\n`, '--whole-stream')
    expect(outcome.stderr).toBe('')
    expect(isOneTrace(outcome)).toBe(true)
  })

  test('are read in one pass above the limit, with a warning', async () => {
    const limit = Math.max(child.length, parent.length) + 10
    const outcome = await convert(`${child}\n${parent}\n`, '--whole-stream', '--max-file-bytes', String(limit))
    expect(outcome.exitCode).toBe(0)
    expect(outcome.stderr).toMatch(
      /^stdin: longer than [\d,]+ bytes \(--max-file-bytes\), so it was read in one pass: /,
    )
    expect(Object.keys(runsOf(outcome))).toEqual(['31', '32'])
    expect(isOneTrace(outcome)).toBe(false)
    const inOrder = await convert(`${parent}\n${child}\n`, '--whole-stream', '--max-file-bytes', String(limit))
    expect(isOneTrace(inOrder)).toBe(true)
  })

  test('are read once by default', async () => {
    const outcome = await convert(`${child}\n${parent}\n`)
    expect(outcome.stderr).toBe('')
    expect(isOneTrace(outcome)).toBe(false)
    expect(isOneTrace(await convert(`${parent}\n${child}\n`))).toBe(true)
  })
})

test('an error in an input is reported once', async () => {
  const { stderr } = await penstock(['convert', '-'], { stdin: `${hookLine(1)}\nnonsense\n{"object_kind":"push"}\n` })
  expect(stderr.trim().split('\n')).toHaveLength(3)
})
