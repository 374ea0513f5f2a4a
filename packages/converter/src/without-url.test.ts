import { type PipelineRecord, readInput } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { type ConvertOptionsInput, convert, recordInstance, resolveOptions } from './index.ts'

const run = { id: 31, status: 'success', created_at: '2026-01-05 10:00:00 UTC', finished_at: '2026-01-05 10:01:00 UTC' }

function recordOf(fields: object): PipelineRecord {
  const input = readInput({ object_attributes: run, ...fields }, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('no pipeline')
  return input.record
}

function spanOf(fields: object, options: ConvertOptionsInput = {}) {
  const { traces } = convert(recordOf(fields), resolveOptions(options))
  return traces.resources[0]!.scopes[0]!.items[0]!
}

describe('records without any URL', () => {
  test('have different ids in different projects', () => {
    const spans = [
      spanOf({ project: { id: 1 } }),
      spanOf({ project: { id: 2 } }),
      spanOf({ project: { path_with_namespace: 'g/p' } }),
      spanOf({ project: { path_with_namespace: 'g/q' } }),
      spanOf({}),
    ]
    for (const key of ['traceId', 'spanId'] as const) expect(new Set(spans.map((span) => span[key])).size).toBe(5)
  })

  test('have the same ids in one project, with any other fields', () => {
    const one = spanOf({ project: { id: 1, path_with_namespace: 'g/p' } })
    expect(spanOf({ project: { id: 1 } })).toMatchObject({ traceId: one.traceId, spanId: one.spanId })
  })

  test('a job hook has the instance of its pipeline', () => {
    const hook = { object_kind: 'build', build_id: 380, build_status: 'success', pipeline_id: 31, project_id: 1 }
    const input = readInput(hook, { receivedAtNs: undefined })
    if (input.kind !== 'job') throw new Error('no job')
    expect(recordInstance(input.event, resolveOptions())).toBe(
      recordInstance(recordOf({ project: { id: 1 } }), resolveOptions()),
    )
  })

  const downstream = { project: { id: 2 }, source_pipeline: { project: { id: 1 }, pipeline_id: 30 } }
  const upstream = { object_attributes: { ...run, id: 30 }, project: { id: 1 } }

  test('a pipeline of another project links to the trace of its upstream pipeline', () => {
    const { traceId, spanId } = spanOf(upstream)
    expect(spanOf(downstream).links).toMatchObject([{ traceId, spanId }])
  })

  test('a pipeline of another project joins that trace under same-trace', () => {
    const { traceId, spanId } = spanOf(upstream)
    const joined = spanOf(downstream, { multiProject: 'same-trace' })
    expect(joined).toMatchObject({ traceId, parentSpanId: spanId })
    expect(joined.spanId).toBe(spanOf(downstream).spanId)
  })
})

describe('the source of the instance', () => {
  const url = 'https://url.example.com/g/p/-/pipelines/31'
  test.each<[string, object, string]>([
    ['the URL of the project', { project: { id: 1, web_url: 'https://web.example.com/g/p' } }, 'web.example.com'],
    ['that of the pipeline', { project: { id: 1 }, object_attributes: { ...run, url } }, 'url.example.com'],
    ['the id of the project', { project: { id: 1, web_url: 'no URL' } }, 'project 1'],
    ['nowhere', {}, ''],
  ])('%s', (_, fields, expected) => expect(recordInstance(recordOf(fields), resolveOptions())).toBe(expected))

  test('the option', () => {
    expect(recordInstance(recordOf({ project: { id: 1 } }), resolveOptions({ instanceId: 'x' }))).toBe('x')
  })
})
