import { signalNames } from '@penstock/otlp'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ExportingWorld, hook, jobHook, type NewPlace } from '../exporting.harness.ts'
import type { IntakeResult } from '../records/intake-request.ts'
import { findRecord } from '../store/record-store.ts'

const SCOPE = 'source:forge'
const key = (id: number | bigint, host = 'ci.example.com') => `${SCOPE} ${host} ${id}`
const exportsOf = (record: string) => signalNames.map((signal) => `${record} ${signal}`)
const later = '2026-02-11 10:00:00 UTC'
const reasonOf = (result: IntakeResult) => (result.kind === 'kept' ? result.reason : result.kind)

/** Defines the tests that the intake must pass on every database. */
export function describeRecordIntake(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    let place: { location: string; remove(): Promise<void> }
    let world: ExportingWorld
    const worlds: ExportingWorld[] = []
    const open = async (change: Parameters<typeof ExportingWorld.open>[1] = {}) => {
      const opened = await ExportingWorld.open(place.location, change)
      worlds.push(opened)
      return opened
    }

    beforeEach(async () => {
      place = await newPlace()
      world = await open()
    })
    afterEach(async () => {
      for (const each of worlds.splice(0)) await each.close()
      await place.remove()
    })
    const recordAt = async (recordKey: string) => (await findRecord(world.db.read, recordKey))?.record

    describe('deduplication', () => {
      test('enqueues a finished pipeline for each signal, but no redelivery or later completion', async () => {
        expect(await world.receive(hook({ id: 1 }))).toMatchObject({ kind: 'enqueued', signals: signalNames })
        expect(await world.receive(hook({ id: 1 }))).toMatchObject({ kind: 'kept', code: 'already_exported' })
        expect(await world.receive(hook({ id: 1, finishedAt: later }))).toMatchObject({
          code: 'completed_again',
          reason:
            'pipeline 1: already exported; it has finished again; set exporter.reexport to export later completions',
        })
        expect(await world.keys()).toEqual(exportsOf(key(1)))
        expect(world.metric('penstock_export_records', { outcome: 'enqueued' })).toBe(1)
        expect(world.metric('penstock_export_records', { outcome: 'completed_again' })).toBe(1)
      })

      test('enqueues once for ten concurrent records of two processes', async () => {
        const other = await open()
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? world : other).receive(hook({ id: 1 }))),
        )
        expect(results.filter(({ kind }) => kind === 'enqueued')).toHaveLength(1)
        expect(await world.keys()).toEqual(exportsOf(key(1)))
      })

      test('distinguishes pipelines by scope and instance', async () => {
        await world.receive(hook({ id: 1 }))
        await world.receive(hook({ id: 1, host: 'ci.example.org' }))
        await world.receive(hook({ id: 1 }), 'project:1', ['logs'])
        expect(await world.keys()).toEqual([
          ...exportsOf(key(1)),
          ...exportsOf(key(1, 'ci.example.org')),
          'project:1 ci.example.com 1 logs',
        ])
      })

      test.each(['created', 'running', 'manual', 'foo'])(
        'exports nothing for the status %s, before or after the end',
        async (status) => {
          expect(await world.receive(hook({ id: 1, status }))).toMatchObject({ kind: 'kept', code: 'not_final' })
          expect(await world.receive(hook({ id: 1 }))).toMatchObject({ kind: 'enqueued' })
          expect(await world.receive(hook({ id: 1, status }))).toMatchObject({
            kind: 'kept',
            code: 'already_exported',
          })
          expect(await world.keys()).toHaveLength(3)
        },
      )

      test('may export a later record of a pipeline after one that had nothing to export', async () => {
        expect(await world.receive(hook({ id: 1 }), SCOPE, [])).toMatchObject({ code: 'nothing_to_export' })
        expect(await world.receive(hook({ id: 1 }), SCOPE, ['logs'])).toMatchObject({
          kind: 'enqueued',
          signals: ['logs'],
        })
      })

      test('does not enqueue a key that is still in the queue after its history was deleted', async () => {
        await world.receive(hook({ id: 1 }))
        await world.db.write((tx) => tx.deleteFrom('export_pipelines').execute())
        const results = await Promise.all([1, 2].map((id) => world.receive(hook({ id }))))
        expect(results).toMatchObject([{ kind: 'kept', code: 'already_exported' }, { kind: 'enqueued' }])
        expect(await world.keys()).toEqual([...exportsOf(key(1)), ...exportsOf(key(2))])
      })

      test('exports each finished pipeline once, whatever the order and number of its records', async () => {
        const hooks = [
          ...[1, 2, 3].flatMap((id) => [
            hook({ id, status: 'created' }),
            hook({ id, status: 'running', jobs: [id * 10] }),
            hook({ id, status: id === 3 ? 'canceling' : 'success', jobs: [id * 10] }),
          ]),
          hook({ id: 1, finishedAt: later, jobs: [10, 11] }),
          jobHook({ pipeline_id: 2, build_id: 20, retries_count: 1 }),
        ]
        let run = 0
        const deliveries = fc.shuffledSubarray([...hooks, ...hooks], { minLength: hooks.length * 2 })
        await fc.assert(
          fc.asyncProperty(deliveries, fc.array(fc.boolean()), async (texts, waits) => {
            run += 1
            const scope = `source:run-${run}`
            const results: Promise<IntakeResult>[] = []
            for (const [index, text] of texts.entries()) {
              results.push(world.receive(text, scope))
              if (waits[index]) await results.at(-1)
            }
            await Promise.all(results)
            const keys = (await world.keys()).filter((each) => each.startsWith(`${scope} `))
            const expected = [1, 2].flatMap((id) => exportsOf(`${scope} ci.example.com ${id}`))
            expect(keys.toSorted()).toEqual(expected.toSorted())
            await world.db.write((tx) => tx.deleteFrom('deliveries').execute())
          }),
          { numRuns: 20 },
        )
      })
    })

    describe('the stored record', () => {
      test('is the body without variables, with every digit', async () => {
        const more = { variables: [{ key: 'PASSWORD', value: 'CANARY' }] }
        await world.receive(hook({ id: 9223372036854775807n, more }))
        const row = await world.db.read.selectFrom('export_records').selectAll().executeTakeFirstOrThrow()
        expect(row.key).toBe(key(9223372036854775807n))
        expect(row.body).not.toContain('CANARY')
        const record = await recordAt(row.key)
        expect(record?.id).toBe(9223372036854775807n)
        expect(record?.receivedAtNs).toBe(world.clock.nowNs())
      })

      test('belongs to the transaction of the caller', async () => {
        const failing = world.db.write(async (tx) => {
          await world.exporter.intake.enqueue(tx, world.received(hook({ id: 1 })), 0)
          throw new Error('no')
        })
        await expect(failing).rejects.toThrow('no')
        expect(await world.keys()).toEqual([])
        expect(await world.receive(hook({ id: 1 }))).toMatchObject({ kind: 'enqueued' })
      })

      test('includes earlier job enrichments, which are deleted then', async () => {
        await world.receive(jobHook({ build_id: 7, retries_count: 2, runner: { id: 4, description: 'shed' } }))
        expect(reasonOf(await world.receive(jobHook({ build_id: 7 })))).toBe('job hook, kept for pipeline 1')
        await world.receive(jobHook({ build_id: 8, pipeline_id: 2, retries_count: 5 }))
        await world.receive(hook({ id: 1, jobs: [7, 8] }))
        expect((await recordAt(key(1)))?.jobs).toMatchObject([
          { id: 7n, attempt: 3, runner: { id: 4n, description: 'shed' } },
          { id: 8n, attempt: undefined },
        ])
        const kept = await world.db.read.selectFrom('export_job_hooks').select('job_id').execute()
        expect(kept).toEqual([{ job_id: '8' }])
      })

      test('includes attempts that only job hooks name, whatever the order of their hooks', async () => {
        const attempt = {
          build_id: 7,
          build_name: 'unit',
          build_stage: 'test',
          build_created_at: '2026-02-11 09:20:14 UTC',
          build_started_at: '2026-02-11 09:20:15 UTC',
          retries_count: 0,
        }
        const end = { build_finished_at: '2026-02-11 09:20:19 UTC', build_duration: 4.5, build_queued_duration: 1 }
        const failed = { ...attempt, ...end, build_status: 'failed', build_failure_reason: 'api_failure' }
        await world.receive(jobHook({ ...failed, user: { id: 9007199254740993n.toString(), username: 'ada' } }))
        await world.receive(jobHook({ ...attempt, build_status: 'running', build_duration: 2.5 }))
        const builds = [{ id: 8, name: 'unit', stage: 'test', status: 'success' }]
        await world.receive(hook({ id: 1, builds }))
        expect((await recordAt(key(1)))?.jobs).toMatchObject([
          {
            id: 7n,
            status: 'failed',
            failureReason: 'api_failure',
            createdAtNs: 1_770_801_614_000_000_000n,
            startedAtNs: 1_770_801_615_000_000_000n,
            finishedAtNs: 1_770_801_619_000_000_000n,
            durationSeconds: 4.5,
            queuedSeconds: 1,
            allowFailure: false,
            user: { id: 9_007_199_254_740_993n, username: 'ada' },
            attempt: 1,
            effective: false,
          },
          { id: 8n, attempt: 2, previousAttemptId: 7n, effective: true },
        ])
      })

      test('includes attempts that only a hook of the unfinished pipeline lists', async () => {
        const times = { created_at: '2026-02-11 09:20:14 UTC', started_at: '2026-02-11 09:20:15 UTC' }
        const unit = { id: 7, name: 'unit', stage: 'test', ...times, status: 'running' }
        const lint = { id: 6, name: 'lint', stage: 'test', ...times, status: 'success' }
        await world.receive(hook({ id: 1, status: 'running', builds: [unit, lint] }))
        const end = { finished_at: '2026-02-11 09:20:19 UTC', duration: 4, runner: { id: 4, description: 'shed' } }
        const failed = { ...unit, ...end, status: 'failed', failure_reason: 'script_failure' }
        await world.receive(hook({ id: 1, status: 'running', builds: [failed, lint] }))
        await world.receive(hook({ id: 1, builds: [lint, { ...unit, id: 8, status: 'success' }] }))
        expect((await recordAt(key(1)))?.jobs).toMatchObject([
          { id: 6n, attempt: undefined },
          {
            id: 7n,
            status: 'failed',
            failureReason: 'script_failure',
            finishedAtNs: 1_770_801_619_000_000_000n,
            durationSeconds: 4,
            runner: { description: 'shed' },
            attempt: 1,
            effective: false,
          },
          { id: 8n, attempt: 2, previousAttemptId: 7n, effective: true },
        ])
        expect(await world.db.read.selectFrom('export_job_hooks').selectAll().execute()).toEqual([])
      })

      test('keeps the attempts of at most 10,000 jobs of an unfinished pipeline', async () => {
        const jobs = Array.from({ length: 10_001 }, (_, at) => at + 1)
        await world.receive(hook({ id: 1, status: 'running', jobs }))
        await world.receive(hook({ id: 1, status: 'running', jobs: [1, 10_001, 10_002] }))
        const kept = await world.db.read.selectFrom('export_job_hooks').select('job_id').execute()
        expect(kept.map(({ job_id }) => Number(job_id)).toSorted((a, b) => a - b)).toEqual(jobs.slice(0, 10_000))
      })

      test('a later completion does not send such an attempt again', async () => {
        const replacing = await open({ options: { reexport: 'replace' } })
        const named = { build_name: 'unit', build_stage: 'test' }
        const builds = [{ id: 8, name: 'unit', stage: 'test', status: 'success' }]
        await replacing.receive(jobHook({ ...named, build_id: 7, build_status: 'failed' }))
        await replacing.receive(hook({ id: 1, builds }))
        await replacing.receive(hook({ id: 1, finishedAt: later, builds }))
        const row = replacing.db.read.selectFrom('export_records').select('previous_job_ids')
        expect((await row.orderBy('key').execute()).map((each) => each.previous_job_ids)).toEqual([null, '7 8'])
      })

      test('an enrichment that an earlier version stored is used', async () => {
        const news = '{"jobId":"7","retriesCount":1,"runner":{"id":"4","description":"shed","tags":[]}}'
        await world.db.write((tx) =>
          tx
            .insertInto('export_job_hooks')
            .values({ pipeline: key(1), job_id: '7', news, seen_at_ms: 0 })
            .execute(),
        )
        await world.receive(hook({ id: 1, jobs: [7] }))
        expect((await recordAt(key(1)))?.jobs).toMatchObject([{ id: 7n, attempt: 2, runner: { id: 4n } }])
      })

      test('a job hook after the export is not stored', async () => {
        await world.receive(hook({ id: 1 }))
        expect(reasonOf(await world.receive(jobHook({ retries_count: 2 })))).toBe(
          'job hook of pipeline 1, which has been exported',
        )
        expect(await world.db.read.selectFrom('export_job_hooks').selectAll().execute()).toEqual([])
      })
    })

    describe('roots', () => {
      test('finds the root of a child before its parent has finished', async () => {
        await world.receive(hook({ id: 2, status: 'running', parent: 1 }))
        await world.receive(hook({ id: 3, parent: 2 }))
        expect((await recordAt(key(3)))?.rootPipelineId).toBe(1n)
      })

      test('reads roots from job hooks too', async () => {
        await world.receive(jobHook({ pipeline_id: 2, source_pipeline: { pipeline_id: 1, job_id: 9 } }))
        await world.receive(hook({ id: 3, parent: 2 }))
        expect((await recordAt(key(3)))?.rootPipelineId).toBe(1n)
      })

      test('edge 45: takes an unknown parent as the root', async () => {
        await world.receive(hook({ id: 3, parent: 2 }))
        expect(await recordAt(key(3))).toMatchObject({ rootPipelineId: undefined, upstream: { pipelineId: 2n } })
      })

      test('edge 47: breaks a cycle of two parents', async () => {
        await world.receive(hook({ id: 1, parent: 2, status: 'running' }))
        expect(await world.receive(hook({ id: 2, parent: 1 }))).toMatchObject({
          kind: 'enqueued',
          warnings: { items: [{ path: 'source_pipeline' }] },
        })
        expect(await recordAt(key(2))).toMatchObject({ rootPipelineId: 2n, upstream: undefined })
      })

      test('follows a long chain up to the limit', async () => {
        for (let id = 40; id > 1; id -= 1) await world.receive(hook({ id, parent: id - 1, status: 'running' }))
        expect(await world.receive(hook({ id: 41, parent: 40 }))).toMatchObject({ kind: 'enqueued' })
        expect((await recordAt(key(41)))?.rootPipelineId).toBe(8n)
      })

      test('one scope cannot change the roots of another', async () => {
        await world.receive(hook({ id: 2, status: 'running', parent: 66 }), 'project:6')
        await world.receive(hook({ id: 2, status: 'running', parent: 1 }))
        await world.receive(hook({ id: 3, parent: 2 }))
        expect((await recordAt(key(3)))?.rootPipelineId).toBe(1n)
      })

      test('reports a root that changes after the export, and exports nothing', async () => {
        await world.receive(hook({ id: 3, parent: 2 }))
        await world.receive(hook({ id: 2, parent: 1 }))
        expect(reasonOf(await world.receive(hook({ id: 3, parent: 2 })))).toBe(
          'pipeline 3: already exported in the trace of pipeline 2, but this record belongs to the trace of 1',
        )
      })
    })

    describe('reexport', () => {
      test.each(['replace', 'link'] as const)(
        '%s: a later completion goes with what was not sent before',
        async (reexport) => {
          const again = await open({ options: { reexport } })
          await again.receive(hook({ id: 1, jobs: [10, 11] }))
          expect(reasonOf(await again.receive(hook({ id: 1, jobs: [10, 11] })))).toBe('pipeline 1: already exported')
          await again.receive(hook({ id: 1, finishedAt: later, jobs: [10, 12] }))
          await again.receive(hook({ id: 1, finishedAt: '2026-02-11 11:00:00 UTC', jobs: [13] }))
          expect(await again.keys()).toEqual([
            ...exportsOf(key(1)),
            ...exportsOf(`${key(1)} #2`),
            ...exportsOf(`${key(1)} #3`),
          ])
          expect((await recordAt(`${key(1)} #3`))?.previousExport).toEqual({ jobIds: new Set([10n, 11n, 12n]) })
          expect((await recordAt(key(1)))?.previousExport).toBeUndefined()
        },
      )

      test('ignores a late record of an earlier completion', async () => {
        const again = await open({ options: { reexport: 'replace' } })
        await again.receive(hook({ id: 1, finishedAt: later }))
        expect(await again.receive(hook({ id: 1 }))).toMatchObject({ kind: 'kept', code: 'already_exported' })
      })
    })

    describe('a shared transaction', () => {
      test('a body with a failing plan does not affect the others', async () => {
        const bad = { ...world.received(hook({ id: 2 })), plan: () => Promise.reject(new Error('poisoned')) }
        const outcomes = await Promise.allSettled([
          world.receive(hook({ id: 1 })),
          world.exporter.intake.enqueueShared(bad),
          world.receive(hook({ id: 3 })),
        ])
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        expect(await world.keys()).toEqual([...exportsOf(key(1)), ...exportsOf(key(3))])
      })

      test('a body that the database refuses does not affect the others', async () => {
        const bad = { ...world.received(hook({ id: 2 })), scope: null as unknown as string }
        const outcomes = await Promise.allSettled([
          world.receive(hook({ id: 1 })),
          world.exporter.intake.enqueueShared(bad),
          world.receive(hook({ id: 3 })),
        ])
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        expect(await world.keys()).toEqual([...exportsOf(key(1)), ...exportsOf(key(3))])
      })

      test('lets other work run between two transactions', async () => {
        const small = await open({ limits: { maxGroup: 1 } })
        let [turns, isOver] = [0, false]
        const takeTurn = () => {
          turns += 1
          if (!isOver) setImmediate(takeTurn)
        }
        setImmediate(takeTurn)
        await Promise.all(Array.from({ length: 10 }, (_, id) => small.receive(hook({ id: id + 1 }))))
        isOver = true
        expect(turns).toBeGreaterThanOrEqual(9)
      })

      test('refuses a body when too many are waiting', async () => {
        const small = await open({ limits: { maxWaiting: 2, maxGroup: 1 } })
        const outcomes = await Promise.allSettled([1, 2, 3, 4].map((id) => small.receive(hook({ id }))))
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
        expect(await small.keys()).toHaveLength(6)
      })
    })
  })
}
