import { deflateSync, gzipSync } from 'node:zlib'
import { encodeRequest, type OtlpRequest } from '@penstock/otlp'
import { expect, test } from 'vitest'
import { logBody, logRecord } from '../telemetry.harness.ts'
import { openReceived } from './received-request.ts'

const MIB = 1024 * 1024
const limits = { maxBodyBytes: 64 * MIB, maxElements: 500_000 }

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
] as const)('a %s body that inflates to more than its bound is not inflated further', (coding, compress) => {
  const wire = compress(Buffer.alloc(65 * MIB))
  expect(openReceived({ signal: 'traces', encoding: 'protobuf', coding, wire }, limits, 0n)).toEqual({
    kind: 'too_large',
    text: 'The body is longer than 67108864 bytes, as sent or inflated.',
  })
})

test('refuses a protobuf body that would be too long as JSON', () => {
  const request: OtlpRequest<'logs'> = {
    resources: [
      {
        resource: { attributes: [], droppedAttributesCount: 0 },
        schemaUrl: '',
        scopes: [
          {
            scope: { name: '\u0001'.repeat(33 * MIB), version: '', attributes: [], droppedAttributesCount: 0 },
            items: [],
            schemaUrl: '',
          },
        ],
      },
    ],
  }
  const wire = encodeRequest('logs', request, 'protobuf')
  expect(openReceived({ signal: 'logs', encoding: 'protobuf', coding: 'identity', wire }, limits, 0n)).toMatchObject({
    kind: 'too_large',
  })
})

test('refuses too many elements before parsing them', () => {
  const wire = logBody('shop', ...Array.from({ length: 60 }, (_, index) => logRecord(index, 9, 'x')))
  const received = { signal: 'logs', encoding: 'json', coding: 'identity', wire } as const
  expect(openReceived(received, { ...limits, maxElements: 50 }, 0n)).toMatchObject({ kind: 'rejected' })
  expect(openReceived(received, { ...limits, maxElements: 70 }, 0n)).toMatchObject({ bodyBytes: wire.length })
})
