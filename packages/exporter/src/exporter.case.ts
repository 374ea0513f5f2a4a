import { convert, resolveOptions } from '@penstock/converter'
import { encodeRequest, signalNames } from '@penstock/otlp'
import { Gate, ManualClock, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ExportingWorld, hook, jobHook, type NewPlace, NOW_MS } from './exporting.harness.ts'
import { readBody } from './records/received-body.ts'
import type { Destination } from './sending/destination.ts'
import { findRecord } from './store/record-store.ts'
import { Retention } from './store/retention.ts'

const accepted: ScriptedReply = { play: 'reply', status: 200 }
const unauthorized: ScriptedReply = { play: 'reply', status: 401 }
const HOUR_MS = 3_600_000
const key = 'source:forge ci.example.com 1'

/** Defines the tests that the exporter must pass on every database. */
export function describeExporter(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    let place: { location: string; remove(): Promise<void> }
    const cleanups: (() => Promise<unknown>)[] = []

    beforeEach(async () => {
      place = await newPlace()
      cleanups.push(() => place.remove())
    })
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const serve = async (script: Parameters<typeof ScriptedServer.start>[0]) => {
      const server = await ScriptedServer.start(script)
      cleanups.push(() => server.close())
      return server
    }
    const open = async (
      destination: Partial<Destination> & { readonly url: string },
      change: Parameters<typeof ExportingWorld.open>[1] = {},
      clock?: ManualClock,
    ) => {
      const world = await ExportingWorld.open(
        place.location,
        { resolveDestination: async () => ({ token: undefined, encoding: 'protobuf', ...destination }), ...change },
        clock,
      )
      cleanups.push(() => world.close())
      return world
    }

    test('sends each signal once, as the converter produces it, with the token', async () => {
      const server = await serve(() => accepted)
      const world = await open({ url: `${server.url}/otlp`, token: 'psin_1' }, { limits: { retentionEveryMs: 1 } })
      const text = hook({ id: 1, jobs: [10, 11] })
      await world.receive(text)
      await world.runUntil(server.received(3))
      const { input } = readBody(text)
      if (input.kind !== 'pipeline') throw new Error('no pipeline')
      const expected = convert({ ...input.record, receivedAtNs: BigInt(NOW_MS) * 1_000_000n }, resolveOptions())
      for (const signal of signalNames) {
        const request = server.requests.find(({ path }) => path === `/otlp/v1/${signal}`)
        expect(request?.headers.authorization).toBe('Bearer psin_1')
        expect(Buffer.from(request!.body)).toEqual(
          Buffer.from(encodeRequest(signal, expected[signal] as never, 'protobuf')),
        )
      }
      expect(await world.keys('delivered')).toHaveLength(3)
      expect(world.metric('otelcol_exporter_sent_spans')).toBe(3)
      expect(world.metric('otelcol_exporter_sent_log_records')).toBe(3)
      expect(world.metric('penstock_export_delivered', { signal: 'logs' })).toBe(1)
    })

    test('pipelines of one endpoint and token share requests after its first reply', async () => {
      const server = await serve(() => accepted)
      const world = await open({ url: server.url })
      for (const id of [1, 2, 3, 4]) await world.receive(hook({ id }), undefined, ['logs'])
      await world.runUntil(server.received(2))
      expect(server.requests).toHaveLength(2)
      expect(await world.keys('delivered')).toHaveLength(4)
    })

    test('an export with a refused credential is dead, is logged once, and arrives after a replay with a new token', async () => {
      const destination = { url: '', token: 'psin_old' }
      const server = await serve(({ headers }) =>
        headers.authorization === 'Bearer psin_new' ? accepted : unauthorized,
      )
      const world = await open(destination, {
        resolveDestination: async () => ({ ...destination, url: server.url, encoding: 'json' }),
      })
      await world.receive(hook({ id: 1 }), undefined, ['logs', 'traces'])
      await world.receive(hook({ id: 2 }), undefined, ['logs'])
      await world.runUntil(server.received(3).then(() => Promise.all(server.requests.map(({ over }) => over))))
      const dead = await world.deliveries('dead')
      expect(dead).toHaveLength(3)
      expect(world.metric('penstock_export_authentication_refusals', { signal: 'logs' })).toBe(2)
      expect(world.metric('penstock_export_dead', { signal: 'traces', reason: 'authentication' })).toBe(1)
      const alarms = world.lines.filter(({ event }) => event === 'export.authentication_refused')
      expect(alarms.map(({ level, lane, scopes }) => [level, lane, scopes]).toSorted()).toEqual([
        ['error', 'logs d1', ['source:forge']],
        ['error', 'traces d1', ['source:forge']],
      ])
      expect(JSON.stringify(world.lines)).not.toContain('psin_')

      destination.token = 'psin_new'
      for (const { id } of dead) expect(await world.exporter.queue.replay(id, world.clock.nowMs())).toBe(true)
      await world.runUntil(server.received(6))
      expect(await world.keys('delivered')).toHaveLength(3)
    })

    test('the log line names all scopes with exports in a refused request', async () => {
      let answer = accepted
      const server = await serve(() => answer)
      const world = await open({ url: server.url })
      await world.receive(hook({ id: 3 }), 'project:4', ['logs'])
      await world.runUntil(server.received(1))
      answer = unauthorized
      await world.receive(hook({ id: 1 }), 'project:5', ['logs'])
      await world.receive(hook({ id: 2 }), 'project:6', ['logs'])
      await world.runUntil(world.logged(1))
      expect(world.lines).toMatchObject([{ lane: 'logs d1', scopes: ['project:5', 'project:6'] }])
    })

    test('an export without an endpoint, with an invalid URL or without its record is dead, with the reason', async () => {
      let destination: Destination | string = 'the project is gone'
      const world = await open({ url: '' }, { resolveDestination: async () => destination })
      const deadReason = async (id: number) => {
        await world.receive(hook({ id }), undefined, ['logs'])
        if (id === 3) await world.db.write((tx) => tx.deleteFrom('export_records').execute())
        // The log has one line per lane and hour.
        await world.clock.advance(HOUR_MS)
        await world.runUntil(world.logged(id))
        return (await world.deliveries('dead')).at(-1)?.reason
      }
      expect(await deadReason(1)).toBe('cannot be sent: the project is gone')
      destination = { url: 'ftp://a', token: undefined, encoding: 'protobuf' }
      expect(await deadReason(2)).toBe(
        'cannot be sent: the endpoint must be a URL that starts with http:// or https://',
      )
      expect(await deadReason(3)).toBe('cannot be sent: its record is gone')
      expect(world.metric('penstock_export_dead', { signal: 'logs', reason: 'unsendable' })).toBe(3)
    })

    test('logs a failing endpoint once per hour and lane, after an export has waited for a minute', async () => {
      const server = await serve(() => ({ play: 'reply', status: 503 }))
      const world = await open({ url: server.url })
      await world.receive(hook({ id: 1 }), undefined, ['logs'])
      await world.runUntil(server.received(1))
      expect(world.lines).toEqual([])
      for (const [requests, afterMs] of [
        [2, 60_000],
        [3, 1_800_000],
        [4, 1_800_000],
      ] as const) {
        await world.clock.advance(afterMs)
        await world.runUntil(server.received(requests))
      }
      const line = { level: 'warn', event: 'export.failing', lane: 'logs d1', scopes: ['source:forge'] }
      expect(world.lines).toMatchObject([line, { ...line, suppressed: 1 }])
    })

    test('logs once that an endpoint may not be an OTLP endpoint, or rejected items', async () => {
      const headers = { 'content-type': 'text/html' }
      const server = await serve(() => ({ play: 'reply', status: 200, headers, body: '<h1>Sign in</h1>' }))
      const world = await open({ url: server.url, encoding: 'json' })
      for (const id of [1, 2]) await world.receive(hook({ id }), undefined, ['logs'])
      await world.runUntil(server.received(2))
      expect(await world.keys('delivered')).toHaveLength(2)
      expect(world.lines).toMatchObject([
        {
          event: 'export.accepted_with_remark',
          lane: 'logs d1',
          reason: expect.stringContaining('the reply is text/html; is this an OTLP endpoint?'),
        },
      ])
    })

    test('retries a record that causes an error, without affecting others', async () => {
      const server = await serve(() => accepted)
      const world = await open({ url: server.url })
      for (const id of [1, 2]) await world.receive(hook({ id }), undefined, ['logs'])
      await world.db.write((tx) =>
        tx.updateTable('export_records').set({ root_id: 'broken' }).where('key', '=', key).execute(),
      )
      await world.runUntil(server.received(1))
      expect(await world.keys('delivered')).toEqual(['source:forge ci.example.com 2 logs'])
      expect(await world.deliveries('open')).toMatchObject([{ key: `${key} logs`, reason: 'internal error' }])
      expect(world.lines).toMatchObject([{ event: 'export.trouble' }])
    })

    test('another process sends an export again if a process dies between reply and settlement', async () => {
      const server = await serve(() => accepted)
      const clock = new ManualClock(NOW_MS)
      const world = await open({ url: server.url }, {}, clock)
      await world.receive(hook({ id: 1 }), undefined, ['logs'])
      // Claimed and sent by a process that died before it settled the delivery.
      const limits = { claim: 'of the dead', limit: 10, leaseMs: 120_000 }
      expect(await world.exporter.queue.claim('logs d1', limits, clock.nowMs())).toHaveLength(1)

      const others = [await open({ url: server.url }, {}, clock), await open({ url: server.url }, {}, clock)]
      const stop = new AbortController()
      const running = others.map((other) => other.exporter.run(stop.signal))
      await clock.untilSleeping(4)
      expect(server.requests).toHaveLength(0)
      await clock.advance(121_000)
      await server.received(1)
      await server.requests[0]?.over
      stop.abort()
      await Promise.all(running)
      expect(await world.keys('delivered')).toEqual([`${key} logs`])
      expect(server.requests).toHaveLength(1)
    })

    test('does not send accepted chunks of a large export again after a restart', async () => {
      const second = new Gate()
      const server = await serve((_, index) =>
        index === 1 ? { ...accepted, status: 503, after: second.opened } : accepted,
      )
      const clock = new ManualClock(NOW_MS)
      const world = await open({ url: server.url }, { limits: { chunk: { maxItems: 2, maxBytes: 1_000_000 } } }, clock)
      await world.receive(hook({ id: 1, jobs: [10, 11, 12, 13] }), undefined, ['logs'])
      await world.runUntil(server.received(2).then(() => second.open()))
      expect(await world.deliveries('open')).toMatchObject([{ attemptsMade: 1 }])
      await clock.advance(HOUR_MS)
      await world.runUntil(server.received(4))
      expect(await world.keys('delivered')).toHaveLength(1)
      const bodies = server.requests.map(({ body }) => Buffer.from(body).toString('base64'))
      expect(bodies).toHaveLength(4)
      expect(bodies[2]).toBe(bodies[1])
      expect(new Set(bodies).size).toBe(3)
    })

    describe('retention', () => {
      const settled = async (world: ExportingWorld, id: number, kind: 'delivered' | 'dead', atMs: number) => {
        await world.receive(hook({ id }), undefined, ['logs', 'traces'])
        for (const lane of ['logs d1', 'traces d1']) {
          const batch = await world.exporter.queue.claim(lane, { claim: `${id}`, limit: 10, leaseMs: 1 }, NOW_MS)
          const settlement =
            kind === 'dead' ? ({ kind, reason: 'no', progress: '' } as const) : ({ kind, message: '' } as const)
          await world.exporter.queue.settle(
            batch.map((delivery) => ({ delivery, settlement })),
            atMs,
          )
        }
      }
      const records = (world: ExportingWorld) => world.db.read.selectFrom('export_records').select('key').execute()
      const limits = {
        keepDeliveredMs: HOUR_MS,
        keepDeadMs: 10 * HOUR_MS,
        keepPipelinesMs: 20 * HOUR_MS,
        keepJobHooksMs: 5 * HOUR_MS,
      }
      const retentionOf = (world: ExportingWorld, rows = 500, steps = 200) =>
        new Retention({ db: world.db, queue: world.exporter.queue, clock: world.clock, limits, rows, steps })

      test('deletes each kind by its age, but a record only after its deliveries', async () => {
        const world = await open({ url: '' })
        await settled(world, 1, 'delivered', NOW_MS)
        await settled(world, 2, 'dead', NOW_MS)
        await world.receive(hook({ id: 3 }), undefined, ['logs'])
        await world.receive(jobHook({ pipeline_id: 4, retries_count: 1 }))
        const retention = retentionOf(world)
        const left = async () => ({
          delivered: await world.keys('delivered'),
          dead: (await world.keys('dead')).length,
          records: (await records(world)).map((row) => row.key.slice(-1)).toSorted(),
          hooks: (await world.db.read.selectFrom('export_job_hooks').select('job_id').execute()).length,
          pipelines: (await world.db.read.selectFrom('export_pipelines').select('key').execute()).length,
        })
        await retention.round()
        expect(await left()).toMatchObject({ dead: 2, records: ['1', '2', '3'], hooks: 1, pipelines: 4 })
        await world.clock.advance(2 * HOUR_MS)
        await retention.round()
        expect(await left()).toEqual({ delivered: [], dead: 2, records: ['2', '3'], hooks: 1, pipelines: 4 })
        await world.clock.advance(9 * HOUR_MS)
        await retention.round()
        expect(await left()).toEqual({ delivered: [], dead: 0, records: ['3'], hooks: 0, pipelines: 4 })
        await world.clock.advance(10 * HOUR_MS)
        await retention.round()
        expect(await left()).toMatchObject({ records: ['3'], pipelines: 0 })
        expect(await world.keys()).toHaveLength(1)
      })

      test('lets other work run after each step', async () => {
        const world = await open({ url: '' })
        for (let id = 1; id <= 10; id += 1) await settled(world, id, 'dead', NOW_MS)
        await world.clock.advance(2 * HOUR_MS)
        let [turns, isOver] = [0, false]
        const takeTurn = () => {
          turns += 1
          if (!isOver) setImmediate(takeTurn)
        }
        setImmediate(takeTurn)
        await retentionOf(world, 1).round()
        isOver = true
        expect(turns).toBeGreaterThanOrEqual(10)
      })

      test('limits each step and each round, and skips rows that must stay', async () => {
        const world = await open({ url: '' })
        for (let id = 1; id <= 6; id += 1) await settled(world, id, id <= 3 ? 'dead' : 'delivered', NOW_MS)
        await world.clock.advance(2 * HOUR_MS)
        const retention = retentionOf(world, 2, 1)
        await retention.round()
        expect(await world.keys('delivered')).toHaveLength(4)
        for (let rounds = 0; rounds < 8; rounds += 1) await retention.round()
        expect(await world.keys('delivered')).toEqual([])
        expect((await records(world)).map((row) => row.key.slice(-1)).toSorted()).toEqual(['1', '2', '3'])
        expect(await findRecord(world.db.read, key)).toBeDefined()
      })
    })
  })
}
