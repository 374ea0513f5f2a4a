import { RecordError } from '@penstock/forges'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recordDigest } from './admission.ts'
import { type BodyPart, bodyParts, joinBody } from './body-parts.ts'
import { BodyReader } from './body-reader.ts'
import { readBody } from './received-body.ts'

const project = { id: 7, name: 'p', web_url: 'https://a.example/p', path_with_namespace: 'p', default_branch: null }
const hook = (jobs: number, more: object = {}) =>
  JSON.stringify({
    object_attributes: { id: 31, status: 'success', variables: [{ key: 'A', value: 'secret' }], ...more },
    builds: Array.from({ length: jobs }, (_, index) => ({
      id: 1_000 + index,
      status: 'success',
      name: `job ${index}`,
    })),
  })
const jobHook = JSON.stringify({
  object_kind: 'build',
  build_id: 5,
  build_status: 'success',
  pipeline_id: 31,
  build_name: 'x'.repeat(70_000),
})
const large = hook(2_000)

describe('bodies in parts', () => {
  const through = (source: string | Uint8Array, context = {}) =>
    joinBody(structuredClone([...bodyParts({ source, context })]) as BodyPart[])

  test.each<[string, string, object]>([
    ['a pipeline', large, { receivedAtNs: 5n }],
    ['a pipeline of another project', large, { project }],
    ['a pipeline without jobs', hook(0), {}],
    ['a job', jobHook, {}],
  ])('%s is read in parts with the same result as in one piece', (_, text, context) => {
    const whole = readBody(text, context)
    const { digest, ...body } = through(text, context)
    expect(body).toEqual(whole)
    expect(through(Buffer.from(text), context).input).toEqual(whole.input)
    expect(digest).toBe(whole.input.kind === 'pipeline' ? recordDigest(whole.input.record) : undefined)
  })

  test.each([
    ['no JSON', '{"a":\n x}'],
    ['not a record', '{}'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('%s fails with the same message in parts', (_, source) => {
    const failure = (() => {
      try {
        return readBody(typeof source === 'string' ? source : source.toString('latin1'))
      } catch (error) {
        return error as RecordError
      }
    })() as RecordError
    const expected = typeof source === 'string' ? failure.message : 'is not UTF-8'
    expect(() => through(source)).toThrow(new RecordError('', expected).constructor as never)
    expect(() => through(source)).toThrow(expected)
  })

  test('refuses a pipeline with too many jobs', () => {
    const context = { maxJobs: 1_999 }
    expect(() => through(large, context)).toThrow('builds: has more than 1999 jobs, bridges included')
    expect(() => readBody(large, { maxJobs: 2_000 })).not.toThrow()
  })
})

describe('BodyReader', () => {
  let reader: BodyReader
  beforeEach(() => {
    reader = new BodyReader()
  })
  afterEach(() => reader.close())

  test('reads a large body in another thread without blocking the event loop', async () => {
    let turns = 0
    const count = (): void => {
      turns += 1
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    const { digest, ...body } = await reader.read(large, { receivedAtNs: 5n })
    clearImmediate(immediate)
    expect(body).toEqual(readBody(large, { receivedAtNs: 5n }))
    expect(digest).toBeDefined()
    // One for each part at least.
    expect(turns).toBeGreaterThan(8)
  })

  test('reads a small body on the event loop', async () => {
    const small = hook(2)
    expect(await reader.read(Buffer.from(small))).toEqual(readBody(small))
  })

  test('refuses a large body with the same message as a small one', async () => {
    await expect(reader.read(`${large}x`)).rejects.toThrow(RecordError)
    await expect(reader.read(`${large}x`)).rejects.toThrow('is not valid JSON at line 1')
  })

  test('refuses large bodies beyond the waiting limit, and reads the others', async () => {
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => reader.read(large)))
    const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason.name] : []))
    expect(refused).toEqual(['WorkersBusyError', 'WorkersBusyError', 'WorkersBusyError'])
  })
})
