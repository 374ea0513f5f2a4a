import type { HttpReply } from '@penstock/delivery'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ExportContext, outcomeOfExport } from './otlp-response.ts'

const context: ExportContext = { signal: 'traces', encoding: 'protobuf', secrets: ['CANARY'], nowMs: 0 }

function reply(status: number, body: string | Uint8Array = '', headers: Record<string, string> = {}): HttpReply {
  return { kind: 'reply', status, headers, body: Buffer.from(body), truncated: false }
}

const json = { 'content-type': 'application/json; charset=utf-8' }
const protobuf = { 'content-type': 'application/x-protobuf' }
const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex')

describe('success', () => {
  test.each([
    ['an empty body', reply(200)],
    ['an empty body of 204', reply(204)],
    ['an empty JSON object', reply(200, '{}', json)],
    ['an empty partial success in JSON', reply(200, '{"partialSuccess":{}}', json)],
    ['an empty partial success in protobuf', reply(200, hex('0a 00'), protobuf)],
  ])('treats %s as a full success', (_, full) => {
    expect(outcomeOfExport(full, context)).toEqual({ kind: 'delivered', rejectedItems: 0, message: '' })
  })

  // ExportTraceServiceResponse { partial_success { rejected_spans: 3, error_message: "too old" } }
  const partialProtobuf = hex('0a 0b 08 03 12 07 74 6f 6f 20 6f 6c 64')

  test.each([
    ['protobuf', reply(200, partialProtobuf, protobuf)],
    ['protobuf, though the reply does not say so', reply(200, partialProtobuf)],
    ['JSON', reply(200, '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', json)],
    ['JSON with a number', reply(200, '{"partialSuccess":{"rejectedSpans":3,"errorMessage":"too old"}}', json)],
  ])('reads a partial success in %s', (_, partial) => {
    expect(outcomeOfExport(partial, context)).toEqual({ kind: 'delivered', rejectedItems: 3, message: 'too old' })
  })

  test('reads the counter of each signal', () => {
    const partial = reply(200, '{"partialSuccess":{"rejectedLogRecords":"2"}}', json)
    expect(outcomeOfExport(partial, { ...context, signal: 'logs' })).toMatchObject({ rejectedItems: 2 })
    expect(outcomeOfExport(partial, context)).toMatchObject({ rejectedItems: 0 })
  })

  test('reads a warning without rejected items', () => {
    const warning = reply(200, '{"partialSuccess":{"errorMessage":"deprecated"}}', json)
    expect(outcomeOfExport(warning, context)).toEqual({ kind: 'delivered', rejectedItems: 0, message: 'deprecated' })
  })

  test('reads a negative counter as 0', () => {
    const nonsense = reply(200, '{"partialSuccess":{"rejectedSpans":"-5"}}', json)
    expect(outcomeOfExport(nonsense, context)).toMatchObject({ rejectedItems: 0 })
  })

  test.each([
    ['a web page', reply(200, '<!doctype html>', { 'content-type': 'text/html' }), /the reply is text\/html/],
    ['garbage', reply(200, hex('ff ff ff'), protobuf), /not an OTLP response/],
    ['no JSON', reply(200, 'fine', json), /not an OTLP response/],
    ['half a reply', { ...reply(200, '{"partial', json), truncated: true }, /cut short/],
  ])('accepts with a remark: %s', (_, doubtful, message) => {
    expect(outcomeOfExport(doubtful, context)).toEqual({
      kind: 'delivered',
      rejectedItems: 0,
      message: expect.stringMatching(message),
    })
  })
})

describe('refusal', () => {
  // google.rpc.Status { code: 3, message: "no spans" }
  const statusProtobuf = hex('08 03 12 08 6e 6f 20 73 70 61 6e 73')

  test.each([
    ['a Status in protobuf', reply(400, statusProtobuf, protobuf), 'HTTP 400 Bad Request: no spans'],
    ['a Status in JSON', reply(400, '{"code":3,"message":"no spans"}', json), 'HTTP 400 Bad Request: no spans'],
    [
      'plain text',
      reply(405, 'POST only\n', { 'content-type': 'text/plain' }),
      'HTTP 405 Method Not Allowed: POST only',
    ],
    ['a web page', reply(413, '<h1>no</h1>', { 'content-type': 'text/html' }), 'HTTP 413 Payload Too Large'],
    ['garbage', reply(500, 'garbage', json), 'HTTP 500 Internal Server Error'],
    ['nothing', reply(599), 'HTTP 599'],
    ['several lines', reply(400, '{"message":"a\\nb\\u001b[31m"}', json), 'HTTP 400 Bad Request: a b [31m'],
    ['our token', reply(400, '{"message":"bad token CANARY!"}', json), 'HTTP 400 Bad Request: bad token [secret]!'],
  ])('returns the reason of %s', (_, refused, reason) => {
    expect(outcomeOfExport(refused, context)).toEqual({ kind: 'dead', reason, authentication: false })
  })

  test.each([401, 403])('treats %i as an authentication failure', (status) => {
    expect(outcomeOfExport(reply(status), context)).toMatchObject({ kind: 'dead', authentication: true })
  })

  test.each([
    ['https://user:secret@elsewhere.example/x?key=secret', ' (https://elsewhere.example/x)'],
    ['/login', ''],
  ])('shows a redirect to %s without secrets', (location, shown) => {
    const redirect = reply(301, '', { location })
    const reason = `HTTP 301 Moved Permanently: redirects are not followed${shown}`
    expect(outcomeOfExport(redirect, context)).toEqual({ kind: 'dead', reason, authentication: false })
  })

  test('returns the wait of a retryable reply', () => {
    const busy = reply(429, '{"message":"slow down"}', { ...json, 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' })
    expect(outcomeOfExport(busy, { ...context, nowMs: 2_000 })).toEqual({
      kind: 'retry',
      retryAfterMs: 7_000,
      reason: 'HTTP 429 Too Many Requests: slow down',
    })
  })
})

test('returns an outcome in one short line without the token for any reply', () => {
  const bodies = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
    fc.string().map((text) => Buffer.from(JSON.stringify({ message: `${text}CANARY${text}`, partialSuccess: {} }))),
  )
  const types = fc.constantFrom('application/json', 'application/x-protobuf', 'text/plain', 'text/html', 'CANARY', '')
  const replies = fc.record({
    kind: fc.constant('reply' as const),
    status: fc.integer({ min: 200, max: 599 }),
    headers: fc.record({ 'content-type': types, location: fc.constantFrom('http://h/CANARY', 'CANARY') }),
    body: bodies,
    truncated: fc.boolean(),
  })
  fc.assert(
    fc.property(replies, (any) => {
      const outcome = outcomeOfExport(any, context)
      const text = outcome.kind === 'delivered' ? outcome.message : outcome.reason
      expect(text).not.toMatch(/CANARY|\n/)
      expect(text.length).toBeLessThanOrEqual(600)
    }),
  )
})
