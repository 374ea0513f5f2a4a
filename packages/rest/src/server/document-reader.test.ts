import { afterEach, beforeEach, expect, test } from 'vitest'
import { pipelinesArea } from '../areas/pipelines.ts'
import { DocumentReader } from './document-reader.ts'

let reader: DocumentReader
beforeEach(() => {
  reader = new DocumentReader()
})
afterEach(() => reader.close())

const row = pipelinesArea.routes.find(({ bodyTextAs }) => bodyTextAs !== undefined)!
const record = (padding: number) =>
  Buffer.from(
    JSON.stringify({
      object_attributes: { id: 31, status: 'success' },
      builds: Array.from({ length: 1_200 }, (_, index) => ({ id: 1 + index, status: 'success' })),
      x: 'x'.repeat(padding),
    }),
  )
const inPath = { project: 'ops/tools', pipelineId: 31 }

test('reads a large document in the worker thread, with the same result as on the event loop', async () => {
  const [{ value: small }, { value: large }] = [
    await reader.read(row, record(0), inPath),
    await reader.read(row, record(70_000), inPath),
  ]
  const withoutPayload = (value: object) => ({ ...value, payload: '' })
  expect(withoutPayload(large)).toEqual(withoutPayload(small))
  expect(large).toMatchObject({ payload: record(70_000).toString(), project: 'ops/tools' })
})

test('rejects large documents beyond the queue as unavailable, and reads the others', async () => {
  const all = Array.from({ length: 11 }, () => reader.read(row, record(70_000), inPath))
  const outcomes = await Promise.allSettled(all)
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.failure] : []))
  expect(refused).toEqual(Array(2).fill({ code: 'unavailable', retryAfterSeconds: 1 }))
})
