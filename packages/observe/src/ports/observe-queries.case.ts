import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, type Body, FIRST_KIND_SAMPLE, kindSamples, spanId, suiteBodies } from '../observe-bodies.harness.ts'
import type { Page, Position } from '../paging/cursor.ts'
import { ResponseBudget } from '../paging/response-budget.ts'
import { pipelineTraceId } from '../pipeline.harness.ts'
import type { MetricIntervals } from '../queries/metric-intervals.ts'
import type { RunFilter } from '../queries/pipeline-queries.ts'
import { toTraceId } from '../telemetry.harness.ts'
import type { ObserveQueries } from './observe-queries.ts'

/** A store that has the bodies of the suite. */
export interface FilledStore {
  readonly queries: ObserveQueries
  close(): Promise<void>
}

interface Options {
  open(bodies: readonly Body[]): Promise<FilledStore>
  /** Opens the embedded store, which says what is expected. */
  reference(bodies: readonly Body[]): Promise<FilledStore>
  /** Removes from an answer of either store what this one cannot store. */
  normalised?(answer: unknown): unknown
}

const unknownTrace = `${'0'.repeat(31)}1`

/** Returns about eight items, spread over the list: a statement of ClickHouse takes long on a busy machine. */
const some = <Item>(list: readonly Item[]): Item[] => list.filter((_, at) => at % Math.ceil(list.length / 8) === 0)

const budget = () => new ResponseBudget(1e9)
/** The store is asked for small pages, the reference for large ones. */
const limits = { store: 60, reference: 200 } as const

/** Returns all items of a list, page by page. */
async function all<Item>(page: (after: Position | undefined) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = []
  let after: Position | undefined
  do {
    const { items: more, next } = await page(after)
    items.push(...more)
    after = next
  } while (after !== undefined)
  return items
}

type Ask = (queries: ObserveQueries, limit: number) => Promise<unknown>

const runsOf =
  (filter: RunFilter): Ask =>
  (queries, limit) =>
    all((after) => queries.runs({ ...filter, limit, after }, budget()))
const logsOf =
  (filter: object): Ask =>
  (queries, limit) =>
    all((after) => queries.logRecords({ ...filter, limit, after }, budget()))
const tracesOf =
  (filter: object): Ask =>
  (queries, limit) =>
    all((after) => queries.traces({ ...filter, limit, after }, budget()))

/** Tests that a store answers every query of the port as the embedded store does. */
export function observeQueriesCase(name: string, { open, reference, normalised = (answer) => answer }: Options): void {
  describe(name, () => {
    let store: FilledStore
    let expected: FilledStore

    beforeAll(async () => {
      const bodies = suiteBodies()
      expected = await reference(bodies)
      store = await open(bodies)
    }, 120_000)
    afterAll(async () => {
      await store?.close()
      await expected?.close()
    })

    const same = async (ask: Ask) => {
      const wanted = normalised(await ask(expected.queries, limits.reference))
      expect(normalised(await ask(store.queries, limits.store))).toEqual(wanted)
      return wanted
    }
    const sameList = async (ask: Ask) => {
      const wanted = (await same(ask)) as unknown[]
      expect(wanted.length).toBeGreaterThan(0)
    }

    test('runs, page by page, with and without children', async () => {
      await sameList(runsOf({}))
      await sameList(runsOf({ children: true }))
    })

    test('runs by values of each filter', async () => {
      const { services, projects, forges, refs, statuses } = await expected.queries.facets(undefined, budget())
      for (const service of some(services)) await sameList(runsOf({ service, children: true }))
      for (const project of some(projects)) await sameList(runsOf({ project, children: true }))
      expect(forges).toContain('github')
      for (const forge of forges) await sameList(runsOf({ forge, children: true }))
      for (const ref of some(refs)) await sameList(runsOf({ ref, children: true }))
      for (const status of some(statuses)) await sameList(runsOf({ status, children: true }))
    }, 120_000)

    test('runs by the name of a project, by a text in any case, in a range, and by values that none has', async () => {
      const runs = (await expected.queries.runs({ limit: 200 }, budget())).items
      await sameList(runsOf({ project: runs.find((run) => run.project_name !== null)!.project_name! }))
      for (const text of ['MAIN', 'harbour/tide', 'e']) await sameList(runsOf({ text }))
      const [sinceNs, untilNs] = [BigInt(runs.at(-5)!.start_ns), BigInt(runs[4]!.start_ns)]
      await sameList(runsOf({ sinceNs, untilNs }))
      for (const filter of [
        { service: 'none' },
        { project: 'none' },
        { forge: 'none' },
        { ref: 'none' },
        { text: 'no such text' },
      ]) {
        await same(runsOf(filter))
      }
    })

    test('runs with a job', async () => {
      const runs = (await expected.queries.runs({ limit: 200, children: true }, budget())).items
      const names = [...new Set(runs.flatMap(({ shape }) => shape.map(({ name }) => name)))]
      for (const job of some(names).slice(0, 2)) await sameList(runsOf({ job, children: true }))
      expect(await store.queries.runs({ job: 'none', limit: 5 }, budget())).toMatchObject({ items: [] })
    })

    test('the run of a trace, and of a trace without one', async () => {
      const runs = (await expected.queries.runs({ limit: 200, children: true }, budget())).items
      for (const { trace_id } of some(runs)) await same((queries) => queries.run(trace_id))
      await same((queries) => queries.run(toTraceId(1)))
      expect(await store.queries.run(unknownTrace)).toBeUndefined()
    }, 60_000)

    test('facets of all services and of one', async () => {
      await same((queries) => queries.facets(undefined, budget()))
      const { services } = await expected.queries.facets(undefined, budget())
      for (const service of [services[0]!, 'none']) await same((queries) => queries.facets(service, budget()))
    })

    test('traces, page by page', () => sameList(tracesOf({})))

    test('traces of pipelines say which run they are, and how many of its jobs failed', async () => {
      const runs = await all((after) => expected.queries.runs({ limit: 200, after }, budget()))
      const byTrace = new Map(runs.toReversed().map((run) => [run.trace_id, run]))
      const traces = await all((after) => store.queries.traces({ limit: 100, after }, budget()))
      expect(traces.some(({ run }) => run === null)).toBe(true)
      expect(traces.some(({ run, errors }) => run !== null && run.jobs_failed > 0 && run.jobs_failed < errors)).toBe(
        true,
      )
      for (const { trace_id, run } of traces) {
        const of = byTrace.get(trace_id)
        if (of === undefined) expect([trace_id, run]).toEqual([trace_id, null])
        else {
          const { project, name, pipeline_id, ref, status, jobs_failed } = of
          expect([trace_id, run]).toEqual([trace_id, { project, name, pipeline_id, ref, status, jobs_failed }])
        }
      }
    })

    test.each([
      ['of a service', { service: 'bank' }],
      ['with errors', { hasErrors: true }],
      ['of a service with errors', { service: 'shop', hasErrors: true }],
      ['of a least duration', { minDurationNs: 60_000_000_000n }],
      ['with an attribute of their spans', { attributes: [{ key: 'cicd.pipeline.run.id', value: '643' }] }],
      ['with an attribute of their resource', { attributes: [{ key: 'service.name', value: 'tide-tables' }] }],
      [
        'with attributes of both',
        {
          attributes: [
            { key: 'service.name', value: 'tide-tables' },
            { key: 'cicd.pipeline.result', value: 'success' },
          ],
        },
      ],
      ['in a range', { sinceNs: BigInt(at(5)), untilNs: BigInt(at(20)) }],
    ])('traces %s', (_, filter) => sameList(tracesOf(filter)))

    test('single traces, page by page', async () => {
      const traces = await all((after) => expected.queries.traces({ limit: 100, after }, budget()))
      for (const { trace_id: traceId } of some(traces)) {
        await sameList(async (queries, limit) => {
          const maxSpans = limit === limits.store ? 3 : 10_000
          const pages: object[] = []
          await all(async (after) => {
            const found = await queries.trace({ traceId, maxSpans, after }, budget())
            pages.push(JSON.parse(Buffer.from(found!.json).toString()))
            return { items: [], next: found!.next }
          })
          return pages.flatMap(spansOf).sort(byStart)
        })
      }
      expect(await store.queries.trace({ traceId: unknownTrace, maxSpans: 10 }, budget())).toBeUndefined()
    }, 120_000)

    test('services', () => sameList((queries) => all((after) => queries.services(after, budget()))))

    test.each([
      ['all', {}],
      ['of a service', { service: 'shop' }],
      ['of services without a name', { service: 'unknown_service' }],
      ['from a severity on', { minSeverity: 17 }],
      ['of a trace', { traceId: toTraceId(1) }],
      ['of a span', { traceId: toTraceId(1), spanId }],
      ['with a text in any case', { text: 'ÄRGER' }],
      ['with a text and a severity', { text: 'line', minSeverity: 9 }],
      ['in a range', { sinceNs: BigInt(at(1)), untilNs: BigInt(at(4)) }],
    ])('log records: %s', (_, filter) => sameList(logsOf(filter)))

    test('log records of a text that none has', () => same(logsOf({ text: 'no such text' })))

    test('names of metrics, page by page, also of one service', async () => {
      for (const service of [undefined, 'shop', 'none']) {
        await same((queries, limit) => all((after) => queries.metricNames({ service, limit, after }, budget())))
      }
    })

    test('every metric with its points', async () => {
      const names = (await expected.queries.metricNames({ limit: 1_000 }, budget())).items
      for (const name of new Set(names.map((metric) => metric.name))) {
        await same((queries) => queries.metric({ name, maxSeries: 1_000, maxPointsPerSeries: 1_000 }, budget()))
      }
      const range = { sinceNs: BigInt(at(2)), untilNs: BigInt(at(5)) }
      await same((queries) =>
        queries.metric({ name: 'requests', maxSeries: 9, maxPointsPerSeries: 2, ...range }, budget()),
      )
      await same((queries) => queries.metric({ name: 'none', maxSeries: 9, maxPointsPerSeries: 2 }, budget()))
    }, 60_000)

    test('of many series, those with the latest points in the range come first, however they arrived', async () => {
      const range = { sinceNs: BigInt(at(2)), untilNs: BigInt(at(30)) }
      for (const { queries } of [expected, store]) {
        const ask = (maxSeries: number, more: object) =>
          queries.metric({ name: 'orders', maxSeries, maxPointsPerSeries: 1, ...more }, budget())
        const times = async (maxSeries: number, more: object) =>
          (await ask(maxSeries, more)).series.map(({ points }) => (points[0] as Point | undefined)?.timeUnixNano)
        expect(await times(3, {})).toEqual([at(40), at(30), at(20)])
        expect(await times(4, range)).toEqual([at(20), at(10), undefined, undefined])
      }
    })

    test('counters and histograms by interval, in groups by name, by an attribute, or as one', async () => {
      const names = (await expected.queries.metricNames({ limit: 1_000 }, budget())).items
      const ask = (name: string, more: object = {}) =>
        same((queries) =>
          queries.metricIntervals({ name, intervalSeconds: 3_600, maxGroups: 6, ...more }, budget()),
        ) as Promise<MetricIntervals>
      const range = { sinceNs: BigInt(at(0)), untilNs: BigInt(at(60)) }
      for (const { name } of some(names)) await ask(name)
      expect(await ask('requests', { ...range, intervalSeconds: 2 })).toMatchObject({
        type: 'sum',
        group_keys: ['till'],
      })
      expect((await ask('requests', { ...range, groupBy: 'till' })).groups).toHaveLength(2)
      expect((await ask('requests', { ...range, groupBy: 'none' })).groups).toHaveLength(1)
      expect(await ask('latency', { ...range, intervalSeconds: 1, service: 'shop' })).toMatchObject({
        type: 'histogram',
      })
      expect((await ask('orders', { ...range, maxGroups: 2 })).groups).toMatchObject([{ service: null }])
      for (const name of ['weight', 'none']) expect(await ask(name)).toMatchObject({ type: null, groups: [] })
      await ask('requests', { service: 'none' })
    }, 60_000)

    test('cumulative counters are counted by their increase, also after a reset, and quantiles lie within the observed values', async () => {
      const range = { sinceNs: BigInt(at(0)), untilNs: BigInt(at(60)), intervalSeconds: 1, maxGroups: 6 }
      for (const { queries } of [expected, store]) {
        const ask = async (name: string) => (await queries.metricIntervals({ name, ...range }, budget())).groups
        const amounts = async (name: string) =>
          (await ask(name)).map(({ intervals }) =>
            intervals.map(({ start_time_unix_nano, amount }) => [
              Number((BigInt(start_time_unix_nano) - BigInt(at(0))) / 1_000_000_000n),
              amount,
            ]),
          )
        expect(await amounts('restarts')).toEqual([
          [
            [2, 7],
            [3, 0],
            [4, 3],
            [5, 1],
            [6, 2],
          ],
        ])
        expect(await amounts('changes')).toEqual([
          [
            [1, 3],
            [2, 4],
            [9, 5],
          ],
        ])
        expect(await ask('level')).toEqual([])
        const [waits] = await ask('waits')
        expect(waits!.intervals.map(({ p50, p95 }) => [p50, p95])).toEqual([
          [120, 120],
          [110, 110],
        ])
      }
    })

    test('insights of all runs, of a project, and of a range', async () => {
      const runs = (await expected.queries.runs({ limit: 200 }, budget())).items
      const latest = BigInt(runs[0]!.start_ns) + 1_000_000_000n
      const range = { sinceNs: latest - 300n * 86_400n * 1_000_000_000n, untilNs: latest, offsetMinutes: 60 }
      await same((queries) => queries.insights(range))
      await same((queries) => queries.insights({ ...range, project: runs[0]!.project! }))
      await same((queries) => queries.insights({ ...range, sinceNs: latest - 86_400n * 1_000_000_000n, limit: 3 }))
    })

    test.each(kindSamples.map(([attributes, usual], index) => ({ index, attributes, usual })))(
      'run $index of $attributes is compared with the earlier ones of its kind',
      async ({ index, usual }) => {
        const traceId = (of: number) => pipelineTraceId(FIRST_KIND_SAMPLE + of)
        for (const { queries } of [expected, store]) {
          const { b } = (await queries.compare({ a: traceId(index), b: 'median' }))!
          expect(b).toMatchObject({ kind: 'median', trace_ids: usual.map(traceId) })
        }
      },
    )

    test('comparisons of runs, and with the median', async () => {
      const runs = (await expected.queries.runs({ limit: 5 }, budget())).items
      for (const [index, { trace_id: a }] of runs.entries()) {
        await same((queries) => queries.compare({ a, b: runs[(index + 1) % runs.length]!.trace_id }))
        const median = await expected.queries.compare({ a, b: 'median' })
        // Of more runs at the same time, stores may take others.
        if (median?.b !== undefined && 'runs' in median.b && median.b.runs < 20) {
          await same((queries) => queries.compare({ a, b: 'median' }))
        }
      }
      expect(await store.queries.compare({ a: toTraceId(1), b: 'median' })).toBeUndefined()
    }, 60_000)
  })
}

interface Point {
  readonly timeUnixNano: string
}

interface TraceJson {
  readonly resourceSpans: readonly {
    readonly resource: object
    readonly scopeSpans: readonly { readonly scope?: object; readonly spans: readonly SpanJson[] }[]
  }[]
}

interface SpanJson {
  readonly spanId: string
  readonly startTimeUnixNano: string
}

const byStart = ({ span: a }: { span: SpanJson }, { span: b }: { span: SpanJson }) =>
  Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)) || (a.spanId < b.spanId ? -1 : 1)

/** Returns the spans of a page with their resource and scope. */
const spansOf = (page: object) =>
  (page as TraceJson).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) => spans.map((span) => ({ resource, scope, span }))),
  )
