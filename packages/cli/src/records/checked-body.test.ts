import { resolveOptions } from '@penstock/converter'
import { expect, test } from 'vitest'
import { checkBody } from './checked-body.ts'

test.each([
  {
    body: { object_kind: 'build', build_id: 380, build_status: 'success', pipeline_id: 31 },
    expected: { kind: 'job hook', pipelineId: 31n, jobId: 380n },
  },
  {
    body: { object_kind: 'pipeline', object_attributes: { id: 31, status: 'failed' } },
    expected: { kind: 'pipeline hook', pipelineId: 31n, status: 'failed', jobs: 0 },
  },
  {
    body: { pipeline: { id: 31, status: 'success' }, jobs: [{ id: 380, status: 'success' }] },
    expected: { kind: 'REST bundle', pipelineId: 31n, jobs: 1 },
  },
])('recognises a $expected.kind', ({ body, expected }) => {
  expect(checkBody(body, resolveOptions(), 1n)).toMatchObject(expected)
})
