import { type PipelineRecord, readInput, type UpstreamPipeline } from '@penstock/forges'
import type { Span } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { type ConvertOptionsInput, resolveOptions } from '../base/options.ts'
import { convert, getTraceId } from '../convert.ts'
import { hashedIds } from '../run/identity.ts'

const HOST = 'ci.example.com'
const OWN = `https://${HOST}/g/p`

function recordOf(more: object = {}): PipelineRecord {
  const hook = {
    object_attributes: { id: 31, status: 'success', finished_at: '2026-02-03 04:02:00 UTC' },
    user: { id: 7, username: 'ada' },
    project: { id: 1, web_url: OWN },
    bridges: [],
    builds: [{ id: 310, name: 'unit', stage: 'test', status: 'success', finished_at: '2026-02-03 04:01:00 UTC' }],
    ...more,
  }
  const input = readInput(hook, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('is no pipeline')
  return input.record
}

function spansOf(record: PipelineRecord, options: ConvertOptionsInput = {}): [pipeline: Span, ...jobs: Span[]] {
  const spans = convert(record, resolveOptions(options)).traces.resources[0]!.scopes[0]!.items
  return [...spans].toSorted((a, b) => Number(b.name.startsWith('RUN')) - Number(a.name.startsWith('RUN'))) as never
}

const upstream = { source_pipeline: { pipeline_id: 9, job_id: 90, project: { id: 2, web_url: `https://${HOST}/g/q` } } }
const withUpstream = (given: Partial<UpstreamPipeline>): PipelineRecord => {
  const record = recordOf(upstream)
  return { ...record, upstream: { ...record.upstream!, ...given } }
}

describe('a record with its own instance', () => {
  test.each<ConvertOptionsInput>([{}, { instanceId: 'x' }, { idScheme: 'native' }])(
    'has ids of that instance under %j',
    (options) => {
      const record = { ...recordOf(), instance: OWN }
      const [pipeline, job] = spansOf(record, options)
      expect(pipeline).toMatchObject({
        traceId: hashedIds.traceId(OWN, 31n),
        spanId: hashedIds.pipelineSpanId(OWN, 31n, 31n),
      })
      expect(job).toMatchObject({
        traceId: pipeline.traceId,
        spanId: hashedIds.jobSpanId(OWN, 31n, 31n, { id: 310n, bridge: false }),
        parentSpanId: pipeline.spanId,
      })
      expect(getTraceId(record, resolveOptions(options))).toBe(pipeline.traceId)
      expect(spansOf(recordOf(), options)[0].traceId).not.toBe(pipeline.traceId)
    },
  )

  test('has the pseudonyms of its forge', () => {
    const names = [recordOf(), { ...recordOf(), instance: OWN }].map((record) => {
      const { attributes } = spansOf(record, { user: 'hash' })[0]
      return attributes.filter(({ key }) => key.includes('user'))
    })
    expect(names[0]!.length).toBeGreaterThan(0)
    expect(names[1]).toEqual(names[0])
  })
})

describe('an upstream pipeline of another project', () => {
  const theirs = `https://${HOST}/g/q`
  const linkOf = (record: PipelineRecord, options?: ConvertOptionsInput) =>
    spansOf(record, options)[0].links.map(({ traceId, spanId }) => [traceId, spanId])
  const target = (instance: string) => [
    hashedIds.traceId(instance, 9n),
    hashedIds.jobSpanId(instance, 9n, 9n, { id: 90n, bridge: true }),
  ]

  test.each<[Partial<UpstreamPipeline>, string[][]]>([
    [{}, [target(HOST)]],
    [{ standing: 'recorded' }, [target(HOST)]],
    [{ standing: 'expected', instance: theirs }, [target(theirs)]],
    [{ standing: 'unknown' }, []],
  ])('that is %j gets a link to its trace', (given, links) => {
    expect(linkOf(withUpstream(given))).toEqual(links)
    // The same link leads out of a trace of the record's own project.
    expect(linkOf({ ...withUpstream(given), instance: OWN })).toEqual(links)
  })

  test.each<[Partial<UpstreamPipeline>, boolean]>([
    [{}, true],
    [{ standing: 'recorded' }, true],
    [{ standing: 'recorded', instance: theirs }, true],
    [{ standing: 'expected' }, false],
    [{ standing: 'unknown' }, false],
  ])('that is %j lets a record under same-trace join its trace: %j', (given, joins) => {
    const record = { ...withUpstream(given), instance: OWN }
    const [pipeline, job] = spansOf(record, { multiProject: 'same-trace' })
    const [traceId, parentSpanId] = joins ? target(given.instance ?? HOST) : [hashedIds.traceId(OWN, 31n), '']
    expect(pipeline).toMatchObject({ traceId, parentSpanId, spanId: hashedIds.pipelineSpanId(OWN, 31n, 31n) })
    expect(job).toMatchObject({ traceId, spanId: hashedIds.jobSpanId(OWN, 31n, 31n, { id: 310n, bridge: false }) })
  })
})
