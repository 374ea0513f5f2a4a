import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GrpcCode, grpcCodeName } from './grpc-code.ts'
import { decodeRpcStatus, encodeRpcStatus } from './rpc-status.ts'

test('a plain status', () => {
  const status = { code: GrpcCode.UNAUTHENTICATED, message: 'no', retryDelayMs: undefined }
  expect(Buffer.from(encodeRpcStatus(status, 'protobuf')).toString('hex')).toBe('081012026e6f')
  expect(Buffer.from(encodeRpcStatus(status, 'json')).toString()).toBe('{"code":16,"message":"no"}')
})

test('a retry delay is encoded as google.rpc.RetryInfo', () => {
  const status = { code: GrpcCode.UNAVAILABLE, message: '', retryDelayMs: 1500 }
  const type = 'type.googleapis.com/google.rpc.RetryInfo'
  const any = Buffer.concat([
    Buffer.from([0x0a, type.length]),
    Buffer.from(type),
    Buffer.from('120a0a0808011080cab5ee01', 'hex'),
  ])
  const expected = Buffer.concat([Buffer.from([0x08, 14, 0x1a, any.length]), any])
  expect(Buffer.from(encodeRpcStatus(status, 'protobuf')).toString('hex')).toBe(expected.toString('hex'))
  expect(Buffer.from(encodeRpcStatus(status, 'json')).toString()).toBe(
    `{"code":14,"details":[{"@type":"${type}","retryDelay":"1.5s"}]}`,
  )
})

test('an invalid field is encoded as google.rpc.BadRequest, after the retry delay', () => {
  const fieldViolations = [{ field: 'body', description: 'not gzip' }]
  const status = { code: GrpcCode.INVALID_ARGUMENT, message: 'm', retryDelayMs: undefined, fieldViolations }
  const type = 'type.googleapis.com/google.rpc.BadRequest'
  const violation = Buffer.concat([
    Buffer.from([0x0a, 4]),
    Buffer.from('body'),
    Buffer.from([0x12, 8]),
    Buffer.from('not gzip'),
  ])
  const badRequest = Buffer.concat([Buffer.from([0x0a, 16]), violation])
  const any = Buffer.concat([Buffer.from([0x0a, type.length]), Buffer.from(type), Buffer.from([0x12, 18]), badRequest])
  const expected = Buffer.concat([Buffer.from([0x08, 3, 0x12, 1, 0x6d, 0x1a, any.length]), any])
  expect(Buffer.from(encodeRpcStatus(status, 'protobuf')).toString('hex')).toBe(expected.toString('hex'))
  const json = `{"@type":"${type}","fieldViolations":[{"field":"body","description":"not gzip"}]}`
  expect(Buffer.from(encodeRpcStatus(status, 'json')).toString()).toBe(`{"code":3,"message":"m","details":[${json}]}`)
  expect(Buffer.from(encodeRpcStatus({ ...status, retryDelayMs: 1_500 }, 'json')).toString()).toBe(
    `{"code":3,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"},${json}]}`,
  )
})

test('unknown details are skipped', () => {
  const body = '{"code":3,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"r"}]}'
  expect(decodeRpcStatus(Buffer.from(body), 'json')).toEqual({ code: 3, message: 'm', retryDelayMs: undefined })
})

test('every status is decoded to what was encoded', () => {
  const statuses = fc.record({
    code: fc.integer(),
    message: fc.string({ unit: 'grapheme' }),
    retryDelayMs: fc.option(fc.nat(), { nil: undefined }),
  })
  const violations = fc.array(
    fc.record({ field: fc.string({ unit: 'grapheme' }), description: fc.string({ unit: 'grapheme' }) }),
  )
  const withViolations = fc
    .tuple(statuses, violations)
    .map(([status, fieldViolations]) => ({ ...status, fieldViolations }))
  fc.assert(
    fc.property(fc.oneof(statuses, withViolations), fc.constantFrom('protobuf', 'json'), (status, encoding) => {
      expect(decodeRpcStatus(encodeRpcStatus(status, encoding), encoding)).toEqual(status)
    }),
  )
})

test('code names', () => {
  expect(grpcCodeName(0)).toBe('OK')
  expect(grpcCodeName(16)).toBe('UNAUTHENTICATED')
  expect(grpcCodeName(17)).toBeUndefined()
})
