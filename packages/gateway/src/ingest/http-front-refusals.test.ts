import { decodeRpcStatus, type Encoding } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { onBothPaths } from './both-paths.harness.ts'
import { ask, front, head, json, post, type RawReply, start } from './http-front.harness.ts'

onBothPaths(() => {
  const statusOf = ({ body }: RawReply, encoding: Encoding) => decodeRpcStatus(body, encoding)
  describe('P-5: every refusal is a Status in the encoding of the request', () => {
    test.each([
      { what: '401', lines: { authorization: '' }, target: '/v1/traces', code: 16, status: 401 },
      { what: '404', lines: {}, target: '/nothing', code: 12, status: 404 },
      { what: '413', lines: { 'content-length': '99999999999' }, target: '/v1/traces', code: 8, status: 413 },
    ])('$what', async ({ lines, target, code, status }) => {
      await start()
      const protobuf = await ask(head(lines, target))
      expect(protobuf).toMatchObject({ status, headers: { 'content-type': 'application/x-protobuf' } })
      expect(statusOf(protobuf, 'protobuf').code).toBe(code)
      const asJson = await ask(head({ ...lines, 'content-type': 'application/json; charset=utf-8' }, target))
      expect(asJson).toMatchObject({ status, headers: { 'content-type': 'application/json' } })
      expect(statusOf(asJson, 'json').code).toBe(code)
    })

    test('uses JSON if there is no usable media type', async () => {
      await start()
      const reply = await ask(post('a', { 'content-type': '' }))
      expect(reply).toMatchObject({ status: 415, headers: { 'content-type': 'application/json' } })
      expect(JSON.parse(reply.body.toString())).toEqual({
        code: 3,
        message: 'Send application/x-protobuf or application/json.',
      })
    })

    test("P-14: passes on upstream's Status unchanged in the same encoding, and converts it otherwise", async () => {
      await start()
      const bytes = Buffer.from('{"code":3,"message":"bad span","details":[{"@type":"x"}]}')
      front.ingest.answer = () => ({
        kind: 'refused',
        cause: 'rejected',
        httpStatus: 400,
        grpcCode: 3,
        message: 'bad span',
        retryAfter: undefined,
        status: { encoding: 'json', bytes },
      })
      expect(await ask(post('{}', json))).toMatchObject({ status: 400, body: bytes })
      expect(statusOf(await ask(post('a')), 'protobuf')).toEqual({
        code: 3,
        message: 'bad span',
        retryDelayMs: undefined,
      })
      expect(front.endings.map(({ outcome }) => outcome)).toEqual(['failure', 'failure'])
    })

    test('answers a retryable error without details after an internal error', async () => {
      await start()
      front.ingest.answer = () => Promise.reject(new Error('secret'))
      const reply = await ask(post('a'))
      expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '3' } })
      expect(reply.body.toString()).not.toContain('secret')
      front.ingest.maxBufferedBytes = () => {
        throw new Error('secret')
      }
      expect(await ask(post('a'))).toMatchObject({ status: 503 })
      expect(front.ingest.reservedBytes).toBe(0)
    })
  })

  describe('P-12, P-13: instructions for a refused client', () => {
    test('sends a challenge with 401', async () => {
      await start()
      expect((await ask(head({ authorization: '' }))).headers['www-authenticate']).toBe('Bearer realm="otlp"')
      const bad = await ask(head({ authorization: 'Bearer bad' }))
      expect(bad.headers['www-authenticate']).toBe('Bearer realm="otlp", error="invalid_token"')
    })

    test.each([
      [0, '2'],
      [0.5, '3'],
      [0.99, '4'],
    ])('Retry-After is 2 to 4 seconds, by the dice: %d', async (roll, seconds) => {
      await start({ random: () => roll })
      front.ingest.answer = () => Promise.reject(new Error('x'))
      expect((await ask(post('a'))).headers['retry-after']).toBe(seconds)
    })

    test('keeps the wait stated by upstream or the gate, also a date', async () => {
      await start()
      front.ingest.roomBytes = 0
      expect((await ask(post('a'))).headers['retry-after']).toBe('3')
      front.ingest.roomBytes = 10
      const date = 'Sat, 21 Nov 2026 12:00:00 GMT'
      front.ingest.answer = () => ({
        kind: 'refused',
        cause: 'throttled',
        httpStatus: 429,
        grpcCode: 14,
        message: 'later',
        retryAfter: date,
        status: undefined,
      })
      expect(await ask(post('a'))).toMatchObject({ status: 429, headers: { 'retry-after': date } })
    })
  })
})
