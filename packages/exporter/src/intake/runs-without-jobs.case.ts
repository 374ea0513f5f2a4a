import { readFileSync } from 'node:fs'
import { decodeRequest } from '@penstock/otlp'
import { ScriptedServer } from '@penstock/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ExportingWorld, type NewPlace } from '../exporting.harness.ts'
import { readBody } from '../records/received-body.ts'
import { findRecordOfDelivery } from '../store/record-store.ts'

const fixture = new URL('../../../../fixtures/pipelines/github-run-hook-before-its-job-hooks.json', import.meta.url)
const [run = '', ...jobs] = (JSON.parse(readFileSync(fixture, 'utf8')) as object[]).map((hook) => JSON.stringify(hook))
const [first = '', second = ''] = jobs
const runId = BigInt((JSON.parse(run) as { workflow_run: { id: number } }).workflow_run.id)
const SETTLE_MS = 60_000
/** More than a run may wait, however many hooks arrive. */
const LONG_MS = 11 * SETTLE_MS

/** Returns the hook about a job as it was while the job ran. */
function unfinished(hook: string): string {
  const { workflow_job, ...others } = JSON.parse(hook) as { workflow_job: object }
  return JSON.stringify({ ...others, workflow_job: { ...workflow_job, status: 'in_progress', conclusion: null } })
}

/** Defines the tests on runs with jobs that have hooks of their own. */
export function describeRunsWithoutJobs(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    let place: { location: string; remove(): Promise<void> }
    let world: ExportingWorld
    let server: ScriptedServer

    beforeEach(async () => {
      place = await newPlace()
      server = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
      const resolveDestination = async () => ({ url: server.url, token: undefined, encoding: 'json' as const })
      world = await ExportingWorld.open(place.location, { resolveDestination })
    })
    afterEach(async () => {
      await world.close()
      await server.close()
      await place.remove()
    })

    const dueIn = async () =>
      Math.max(...(await world.deliveries()).map(({ dueAtMs }) => dueAtMs - world.clock.nowMs()))
    /** Sends all that is due. */
    const send = async () => {
      const due = (await world.deliveries()).filter(({ dueAtMs }) => dueAtMs <= world.clock.nowMs())
      if (due.length > 0) await world.runUntil(server.received(server.requests.length + due.length))
    }
    const sendAll = async () => {
      await world.clock.advance(LONG_MS)
      await send()
    }
    /** Returns the spans of each request, without those of steps. */
    const sentSpans = () =>
      requestsTo('/v1/traces').map(({ body }) =>
        decodeRequest('traces', body, 'json')
          .resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
          .filter(({ name }) => !name.startsWith('step: ')),
      )
    const sentLogs = () =>
      requestsTo('/v1/logs').map(({ body }) =>
        decodeRequest('logs', body, 'json').resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items)),
      )
    const requestsTo = (wanted: string) => server.requests.filter(({ path }) => path === wanted)

    test('a run waits until no job hook has arrived for a while, and is sent with all its jobs', async () => {
      await world.receive(first)
      expect(await world.receive(run)).toMatchObject({ kind: 'enqueued' })
      expect(await dueIn()).toBe(SETTLE_MS)
      await world.clock.advance(SETTLE_MS - 1)
      expect(await world.receive(second)).toMatchObject({ kind: 'kept', code: 'job_hook' })
      expect(await dueIn()).toBe(SETTLE_MS)
      await world.clock.advance(SETTLE_MS)
      await send()
      expect(sentSpans().map((spans) => spans.map((span) => span.name))).toEqual([
        ['RUN CI', 'job: build', 'job: test'],
      ])
      expect(requestsTo('/v1/metrics')).toHaveLength(1)
      expect(await world.receive(second)).toMatchObject({ kind: 'kept', code: 'job_hook' })
      expect(await world.keys()).toEqual([])
    })

    test('a job that arrives later is sent alone, in the same trace', async () => {
      await world.receive(run)
      await world.receive(first)
      await world.clock.advance(SETTLE_MS)
      await send()
      expect(await world.receive(second)).toMatchObject({ kind: 'enqueued', signals: ['traces', 'logs'] })
      await world.clock.advance(SETTLE_MS)
      await send()
      const [before = [], after = []] = sentSpans()
      expect([before.map(({ name }) => name), after.map(({ name }) => name)]).toEqual([
        ['RUN CI', 'job: test'],
        ['job: build'],
      ])
      expect(after[0]).toMatchObject({ traceId: before[0]?.traceId, parentSpanId: before[0]?.spanId })
      expect(sentLogs().map((records) => records.length)).toEqual([2, 1])
      expect(requestsTo('/v1/metrics')).toHaveLength(1)
    })

    test('a job that ends after its run is sent when it has ended', async () => {
      await world.receive(second)
      await world.receive(unfinished(first))
      await world.receive(run)
      await world.clock.advance(SETTLE_MS)
      await send()
      expect(await world.receive(first)).toMatchObject({ kind: 'enqueued' })
      await sendAll()
      const names = sentSpans().map((spans) => spans.map(({ name }) => name))
      expect(names).toEqual([['RUN CI', 'job: build'], ['job: test']])
    })

    test('a body is read again as the forge that it was read as', async () => {
      const fewMembers = JSON.stringify({
        action: 'completed',
        workflow_run: { id: 7, status: 'completed', conclusion: 'success', run_started_at: '2026-02-03T04:05:06Z' },
        repository: { full_name: 'kiln/shelf', html_url: 'https://git.example.com/kiln/shelf' },
      })
      const request = world.received(fewMembers)
      const body = readBody(fewMembers, { forge: 'gitea' })
      await world.exporter.intake.enqueueShared({ ...request, body, settleMs: 0 })
      const [delivery] = await world.deliveries()
      const found = await findRecordOfDelivery(world.db.read, delivery?.key ?? '')
      expect([body.forge, found?.record.forge]).toEqual(['gitea', 'gitea'])
    })

    test('job hooks do not keep a run waiting without end', async () => {
      await world.receive(run)
      for (let hooks = 0; hooks < 40; hooks += 1) {
        await world.clock.advance(SETTLE_MS / 2)
        await world.receive(first)
      }
      expect(await dueIn()).toBeLessThanOrEqual(0)
    })

    test('each job is sent once, whatever the order, the number and the time of the hooks', async () => {
      const hooks = { run, first, second }
      const steps = fc.shuffledSubarray(['run', 'run', 'first', 'first', 'second', 'second', 'send', 'send'] as const, {
        minLength: 8,
      })
      let round = 0n
      await fc.assert(
        fc.asyncProperty(steps, async (order) => {
          round += 1n
          server.requests.splice(0)
          for (const step of order) {
            if (step === 'send') await sendAll()
            else await world.receive(hooks[step].replaceAll(String(runId), String(runId + round)))
          }
          await sendAll()
          const names = sentSpans().flatMap((spans) => spans.map(({ name }) => name))
          expect(names.toSorted()).toEqual(['RUN CI', 'job: build', 'job: test'])
          expect(requestsTo('/v1/metrics')).toHaveLength(1)
          expect(await world.keys()).toEqual([])
        }),
        { numRuns: 15 },
      )
    })
  })
}
