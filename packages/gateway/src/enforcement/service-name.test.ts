import { encodeRequest, type OtlpRequest } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { serviceNameIn } from './service-name.ts'

const request = (...names: (string | undefined)[]): OtlpRequest<'logs'> => ({
  resources: names.map((name) => ({
    resource: {
      attributes: [
        { key: 'host.name', type: 'string', value: 'h' },
        { key: 'boot.count', type: 'int', value: 2n ** 60n },
        ...(name === undefined ? [] : [{ key: 'service.name', type: 'string' as const, value: name }]),
      ],
      droppedAttributesCount: 0,
    },
    scopes: [],
    schemaUrl: '',
  })),
})

describe.each(['protobuf', 'json'] as const)('in %s', (encoding) => {
  test.each([
    { resources: ['checkout', 'cart'], found: 'checkout' },
    { resources: [undefined, 'cart'], found: undefined },
    { resources: ['ünïcode "quoted"'], found: 'ünïcode "quoted"' },
    { resources: ['x'.repeat(900)], found: 'x'.repeat(200) },
    { resources: [], found: undefined },
  ])('of $resources.length resources, the first determines the name', ({ resources, found }) => {
    expect(serviceNameIn(encodeRequest('logs', request(...resources), encoding))).toBe(found)
  })

  test('a truncated body gives the whole name or nothing', () => {
    const whole = encodeRequest('logs', request('checkout'), encoding)
    for (let length = 0; length <= whole.length; length += 1) {
      const found = serviceNameIn(whole.subarray(0, length))
      expect([undefined, 'checkout']).toContain(found)
    }
    expect(serviceNameIn(whole)).toBe('checkout')
  })
})

test.each([
  '',
  '{',
  '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"intValue":"1"}}]}}]}',
  '[]',
  '\n\u0001',
  'no telemetry',
])('finds no name in %j', (body) => {
  expect(serviceNameIn(Buffer.from(body))).toBeUndefined()
})
