import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeRequest, type Span } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { casesIn, readText } from './reading.harness.ts'
import { testSpans } from './test-spans.ts'

const directory = join(import.meta.dirname, '../../../fixtures/test-reports')

interface Run {
  readonly tool: string
  readonly version: string
  readonly command: string
  readonly reports: readonly string[]
  readonly printed: string
  readonly cases: Readonly<Record<string, number>>
  readonly attempts: number
  readonly difference?: string
}

const runs = JSON.parse(readFileSync(join(directory, 'runs.json'), 'utf8')) as Run[]

const read = (path: string) => readText(readFileSync(join(directory, path)))

function spansOf(path: string): Span[] {
  const place = {
    traceId: '5b8efff798038103d269b633813fc60c',
    parentSpanId: 'eee19b7ec3c1b174',
    traceState: '',
    traceFlags: 1,
  }
  const options = { ...place, reportName: path, writtenNs: 1_796_072_760_000_000_000n, vendorNamespace: 'svc' }
  return [...testSpans(read(path), options)]
}

describe.each(runs)('$tool, $reports', ({ tool, reports, cases, attempts }) => {
  const paths = reports.map((report) => `${tool}/${report}`)

  test('has the results that the run printed', () => {
    const all = paths.flatMap((path) => [...casesIn(read(path).entries)])
    const counts: Record<string, number> = {}
    for (const { result, isRepeated } of all) if (!isRepeated) counts[result] = (counts[result] ?? 0) + 1
    expect(counts).toEqual(cases)
    expect(all.length).toBe(attempts)
  })

  test.each(paths)('%s has the spans of its golden file', async (path) => {
    const scope = { name: 'penstock', version: '', attributes: [], droppedAttributesCount: 0 }
    const resource = { attributes: [], droppedAttributesCount: 0 }
    const scopes = [{ scope, items: spansOf(path), schemaUrl: '' }]
    const body = encodeRequest('traces', { resources: [{ resource, scopes, schemaUrl: '' }] }, 'json')
    const text = JSON.stringify(JSON.parse(Buffer.from(body).toString()), undefined, 1)
    await expect(`${text}\n`).toMatchFileSnapshot(join(directory, path.replace(/\.xml$/, '.golden.json')))
  })

  test('gives every span an id of its own, below a span that exists', () => {
    const spans = paths.flatMap(spansOf)
    const ids = new Set(spans.map(({ spanId }) => spanId))
    expect(ids.size).toBe(spans.length)
    expect(spans.filter(({ parentSpanId }) => parentSpanId !== 'eee19b7ec3c1b174' && !ids.has(parentSpanId))).toEqual(
      [],
    )
    expect(spans.filter((span) => span.endTimeUnixNano < span.startTimeUnixNano)).toEqual([])
  })
})
