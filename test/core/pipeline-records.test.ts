import { createPersonalToken, type DomainEvent, type Project } from '@penstock/core'
import { parseLossless, readInput } from '@penstock/forges'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { caseNames, caseText } from '../fixtures.ts'

let world: World
let listening: Listening
let project: Project
let token: string
let events: DomainEvent[] = []

beforeAll(async () => {
  world = await World.open()
  const root = await world.user('root', { isAdministrator: true })
  project = await world.project('tools', root)
  token = (await world.perform(root, createPersonalToken, { userId: root.id, name: 'test', scopes: ['api'] })).value
  const listener = {
    types: new Set(['pipeline.created', 'pipeline.updated'] as const),
    onEvent: async (_: unknown, event: DomainEvent) => void events.push(event),
  }
  const core = { ...world.core, listeners: [listener] }
  listening = await listen(restListener({ core, areas, log: silentLog, rateLimits: 'off' }), {
    host: '127.0.0.1',
    port: 0,
  })
})

afterAll(async () => {
  await listening.close(AbortSignal.abort())
  await world.close()
})

const put = (id: string, body: string) =>
  fetch(`${listening.url}/api/v4/projects/${project.id}/pipeline_records/${id}`, {
    method: 'PUT',
    headers: { 'private-token': token, 'content-type': 'application/json' },
    body,
  })

/** Pipeline hooks in files with a single body. The original text is sent, so that its numbers and escapes are kept. */
const hooks = caseNames
  .map((name) => ({ name, id: /"object_attributes": *\{\s*"id": *(\d+)/.exec(caseText(name))?.[1] }))
  .filter(({ name, id }) => id !== undefined && caseText(name).trimStart().startsWith('{'))

/** Ids of more than 53 bits, which the core does not store, and jobs that are not a list. */
const rejected = ['e48-ids-above-two-to-the-53', 'e48-ids-next-to-the-largest-int64', 'builds-an-object']

test('the fixtures contain pipeline hooks', () => {
  expect(hooks.length).toBeGreaterThan(100)
  expect(hooks.map(({ name }) => name)).toEqual(expect.arrayContaining(rejected))
})

test.each(hooks)('the converter can read a record that the core accepts: $name', async ({ name, id }) => {
  events = []
  const text = caseText(name)
  await world.core.db.write((db) => db.deleteFrom('pipelines').execute())
  const reply = await put(id!, text)
  const answer = (await reply.json()) as Record<string, unknown>
  if (rejected.includes(name)) return expect(reply.status).toBe(400)
  expect([reply.status, answer.error]).toEqual([201, undefined])
  expect(events.map(({ payload }) => payload)).toEqual([text])
  const input = readInput(parseLossless(events[0]!.payload!), { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') return expect.fail('is not a pipeline')
  const { record } = input
  const asMs = (ns: bigint | undefined) => (ns === undefined ? null : new Date(Number(ns / 1_000_000n)).toISOString())
  expect(answer).toMatchObject({
    id: Number(record.id),
    status: record.status,
    // The core replaces lone surrogates, which databases cannot store.
    ref: record.ref?.replaceAll(/\p{Surrogate}/gu, '\ufffd') ?? null,
    source: record.source ?? null,
    created_at: asMs(record.createdAtNs),
    finished_at: asMs(record.finishedAtNs),
    duration: record.durationSeconds ?? null,
  })
  const rows = await world.core.db.read.selectFrom('pipeline_jobs').selectAll().orderBy('job_id').execute()
  const jobs = record.jobs.toSorted((a, b) => Number(a.id) - Number(b.id))
  expect(rows.map((row) => [row.job_id, row.status, row.is_bridge, row.is_retried])).toEqual(
    jobs.map((job) => [Number(job.id), job.status, Number(job.bridge), Number(!job.effective)]),
  )
})

test('the converter can read any record that the core accepts', async () => {
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(0, -1, '', ' ', '31', '2026-01-05 10:00:00 UTC', [], {}, null, true, 31.5),
  )
  const fields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, anything]))
  const often = (usual: unknown, ...others: unknown[]) =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, fc.constantFrom(...others), anything)
  const job = fc.record(
    {
      ...fields('name', 'stage', 'created_at', 'finished_at', 'duration', 'user', 'runner', 'artifacts_file', 'bridge'),
      id: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 9 }) }, anything),
      status: often('success', '', ' \0', 7),
    },
    { requiredKeys: [] },
  )
  const jobs = fc.oneof(fc.array(job, { maxLength: 2 }), anything)
  const run = fc.record(
    {
      ...fields('iid', 'name', 'ref', 'tag', 'stages', 'created_at', 'finished_at', 'duration', 'detailed_status'),
      id: often(31, '31', 31.5),
      status: often('Failure', '', ' \0', 7),
    },
    { requiredKeys: [] },
  )
  const bodies = fc.record(
    {
      ...fields('user', 'project', 'commit', 'merge_request', 'source_pipeline', 'pipeline', 'jobs'),
      object_kind: often('pipeline', '', 'build', 7),
      object_attributes: fc.oneof({ weight: 9, arbitrary: run }, anything),
      builds: jobs,
      bridges: jobs,
    },
    { requiredKeys: [] },
  )
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const text = JSON.stringify(body)
      const { status } = await put('31', text)
      expect([200, 201, 400]).toContain(status)
      if (status === 400) return
      accepted++
      expect(readInput(parseLossless(text), { receivedAtNs: undefined })).toMatchObject({ record: { id: 31n } })
    }),
    { numRuns: 500 },
  )
  expect(accepted).toBeGreaterThan(20)
})
