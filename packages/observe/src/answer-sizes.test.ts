import { MAX_ANSWER_BYTES } from '@penstock/json'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { observeRoutes } from './http/observe-routes.ts'
import { pipelineBody, pipelineTraceId } from './pipeline.harness.ts'
import { serveStore } from './served-store.harness.ts'
import { counter, logBody, logRecord, metricBody, numberedTrace, toTraceId, traceBody } from './telemetry.harness.ts'

const MIB = 1024 * 1024
/** JSON writes this character with six bytes. */
const escaped = (characters: number) => '\u0001'.repeat(characters)
/** JSON writes this character as it is, with three bytes. */
const wide = (characters: number) => '字'.repeat(characters)
const pair = (key: string, stringValue: string) => ({ key, value: { stringValue } })

let served: Awaited<ReturnType<typeof serveStore>>

beforeAll(async () => {
  served = await serveStore()
  const { store } = served
  const traces = (body: Uint8Array) => store.receiveBody('traces', body, 'json')
  for (let number = 1; number <= 3; number += 1) {
    await traces(numberedTrace(number, { name: escaped(500_000), service: `${escaped(400_000)}${number}` }))
  }
  // Alone larger than an answer.
  await traces(numberedTrace(4, { name: escaped(1_500_000) }))
  const spans = Array.from({ length: 60 }, (_, index) => ({
    traceId: toTraceId(5),
    spanId: index.toString(16).padStart(16, 'b'),
    parentSpanId: 'a'.repeat(16),
    start: index,
    name: escaped(100_000),
  }))
  for (let from = 0; from < spans.length; from += 20) await traces(traceBody(...spans.slice(from, from + 20)))
  await traces(traceBody({ traceId: toTraceId(6), spanId: 'c'.repeat(16), name: escaped(6 * MIB) }))
  for (let number = 1; number <= 4; number += 1) {
    await store.receiveBody('logs', logBody('shop', logRecord(number, 9, escaped(500_000))), 'json')
    await store.receiveBody('logs', logBody('shop', logRecord(number + 10, 9, wide(1_000_000))), 'json')
    const one = {
      ...counter(number, '1', [pair('long', escaped(400_000) + number)]),
      description: escaped(600_000),
      name: `name ${number}`,
    }
    await store.receiveBody('metrics', metricBody('shop', one, { ...one, name: 'name' }), 'json')
  }
  await store.receiveBody('logs', logBody('shop', logRecord(5, 9, escaped(2_000_000))), 'json')
  const texts = (number: number) => (kind: string) => `${escaped(990)}${kind}${number}`
  for (let number = 1; number <= 300; number += 1) {
    const text = texts(number)
    const isLarge = number <= 2
    const jobs = Array.from({ length: isLarge ? 800 : 5 }, (_, index) => ({
      name: `${escaped(990)}${number}.${index}`,
      start: index,
      end: index + 1,
      status: 'failed',
    }))
    await traces(
      pipelineBody({
        number,
        jobs,
        service: text('service'),
        attributes: {
          'cicd.pipeline.name': text('name'),
          'vcs.ref.head.name': text('ref'),
          'vcs.repository.url.full': `https://forge.example/${number}/${wide(900)}`,
          'vcs.change.title': text('title'),
        },
      }),
    )
  }
})

afterAll(() => served?.close())

/** Returns the paths of every query, with the parameters that give the longest answers. */
function paths(): string[] {
  const unused = (): never => expect.unreachable('the routes are only listed')
  const routes = observeRoutes({
    ...{ store: { answer: unused }, streams: undefined, access: 'anyone', callerOf: unused, parse: unused },
    ...{
      tooManyStreams: unused,
      unavailable: unused,
      notSupported: unused,
      traceNotFound: unused,
      answerTooLarge: unused,
    },
  })
  return routes.flatMap(({ path, query, staysOpen }) => {
    if (staysOpen) return []
    const own = path.replace('/api/v1/observe', '')
    const parameters =
      parametersOf[own] ?? ('limit' in ((query as { shape?: object }).shape ?? {}) ? ['limit=200'] : [''])
    const asked = parameters.map((text) => `${own}${text === '' ? '' : `?${text}`}`)
    if (!own.includes(':trace_id')) return asked
    const traces = own.startsWith('/pipelines') ? [pipelineTraceId(1), pipelineTraceId(9)] : [4, 5, 6].map(toTraceId)
    return traces.flatMap((id) => asked.map((each) => each.replace(':trace_id', id)))
  })
}

const parametersOf: Readonly<Record<string, readonly string[]>> = {
  '/traces/:trace_id': ['limit=10000'],
  '/logs': ['limit=1000', 'limit=1000&q=%01', 'limit=1000&q=nothing'],
  '/metric_names': ['limit=1000'],
  '/metrics': ['name=name&series=1000', 'name=name%201'],
  '/metric_intervals': ['name=name&groups=50', 'name=name%201&groups=50'],
  '/pipelines': ['limit=200', 'limit=200&q=title'],
  '/insights': ['limit=500&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z'],
  '/compare': [`a=${pipelineTraceId(1)}&b=${pipelineTraceId(2)}`, `a=${pipelineTraceId(8)}&b=${pipelineTraceId(9)}`],
}

/** Follows the pages of a list, also after an item that is too large, and returns what each of them was. */
async function follow(path: string): Promise<string[]> {
  const pages: string[] = []
  const maxBytes = path.startsWith('/traces/') ? 32 * MIB : MAX_ANSWER_BYTES
  let cursor: string | undefined
  do {
    const more = cursor === undefined ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(served.url + path + more)
    const bytes = Buffer.from(await response.arrayBuffer())
    const json = JSON.parse(bytes.toString())
    cursor = response.status === 413 ? json.nextCursor : (response.headers.get('X-Next-Cursor') ?? undefined)
    if (response.status === 413) expect(json.maxBytes).toBe(maxBytes)
    const size = bytes.length > maxBytes ? `${bytes.length} bytes` : ''
    pages.push(`${response.status}${response.status === 413 ? ` ${json.member}` : ''} ${size}`.trim())
  } while (cursor !== undefined && pages.length < 1_000)
  return pages
}

test('every query answers within the limit, or names the member that is too large and the next page', async () => {
  const outcomes: Record<string, readonly string[]> = {}
  for (const path of paths()) outcomes[path] = [...new Set(await follow(path))]
  const wrong = Object.entries(outcomes).filter(([, pages]) => pages.some((page) => !/^(?:200|413 \w+)$/.test(page)))
  expect(wrong).toEqual([])
  expect(outcomes).toMatchObject({
    '/traces?limit=200': ['200', '413 root'],
    [`/traces/${toTraceId(5)}?limit=10000`]: ['200'],
    [`/traces/${toTraceId(6)}?limit=10000`]: ['413 spans'],
    '/logs?limit=1000': ['200', '413 record'],
    '/insights?limit=500&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z': [expect.stringMatching(/^413 /)],
    [`/compare?a=${pipelineTraceId(1)}&b=${pipelineTraceId(2)}`]: ['413 jobs'],
  })
})
