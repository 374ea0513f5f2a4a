import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { type Conversion, convert, toReadableLogRecords, toReadableSpans, toResourceMetrics } from '@penstock/converter'
import { readInput } from '@penstock/forges'
import { decodeRequest, type Encoding, encodeRequest, type Signal, signalNames } from '@penstock/otlp'
import { pipelineHooks } from '@penstock/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareModels } from './compare-models.ts'
import { fixtureCases, receivedAtNs } from './fixture-cases.ts'
import { readIndependently, rewrittenLength } from './independent-reader.ts'
import { DifferenceTally, sdkLosses } from './known-differences.ts'

const encodings: readonly Encoding[] = ['protobuf', 'json']
const readers = { 'our decoder': decodeRequest, protobufjs: readIndependently }

const serializers = {
  protobuf: { traces: ProtobufTraceSerializer, metrics: ProtobufMetricsSerializer, logs: ProtobufLogsSerializer },
  json: { traces: JsonTraceSerializer, metrics: JsonMetricsSerializer, logs: JsonLogsSerializer },
}

/** Returns our SDK views as otlp-transformer serializes them. */
function transformed(conversion: Conversion, signal: Signal, encoding: Encoding): Uint8Array {
  const { traces, metrics, logs } = serializers[encoding]
  switch (signal) {
    case 'traces':
      return traces.serializeRequest(toReadableSpans(conversion.traces))!
    case 'metrics':
      return metrics.serializeRequest(toResourceMetrics(conversion.metrics)[0]!)!
    case 'logs':
      return logs.serializeRequest(toReadableLogRecords(conversion.logs))!
  }
}

const cases = fixtureCases()

test('finds the fixtures', () => {
  expect(cases.length).toBeGreaterThan(200)
})

describe.each(encodings)('%s', (encoding) => {
  test('two readers that share no code read our requests without differences', () => {
    const tally = new DifferenceTally([])
    for (const { name, conversion } of cases) {
      for (const signal of signalNames) {
        const bytes = encodeRequest(signal, conversion[signal], encoding)
        for (const [reader, read] of Object.entries(readers)) {
          tally.add(`${name}, ${signal}, ${reader}`, compareModels(conversion[signal], read(signal, bytes, encoding)))
        }
      }
    }
    expect(tally.unexplained).toEqual([])
    expect(tally.compared).toBeGreaterThan(280_000)
  })

  test.each(Object.keys(readers) as (keyof typeof readers)[])(
    'otlp-transformer writes the same, except for limits of the SDK (read by %s)',
    (reader) => {
      const tally = new DifferenceTally(sdkLosses)
      for (const { name, conversion } of cases) {
        for (const signal of signalNames) {
          const model = readers[reader](signal, transformed(conversion, signal, encoding), encoding)
          tally.add(`${name}, ${signal}`, compareModels(conversion[signal], model))
        }
      }
      expect(tally.unexplained).toEqual([])
      expect(tally.unobserved).toEqual([])
      expect(tally.compared).toBeGreaterThan(140_000)
    },
  )
})

test('for any hook, protobufjs reads our requests without differences, and otlp-transformer writes the same', () => {
  fc.assert(
    fc.property(pipelineHooks(), fc.constantFrom(...encodings), (hook, encoding) => {
      const conversion = conversionOf(hook)
      const ours = new DifferenceTally([])
      const theirs = new DifferenceTally(sdkLosses)
      for (const signal of signalNames) {
        const bytes = encodeRequest(signal, conversion[signal], encoding)
        ours.add(signal, compareModels(conversion[signal], readIndependently(signal, bytes, encoding)))
        const model = readIndependently(signal, transformed(conversion, signal, encoding), encoding)
        theirs.add(signal, compareModels(conversion[signal], model))
      }
      expect([...ours.unexplained, ...theirs.unexplained]).toEqual([])
    }),
  )
})

function conversionOf(hook: object): Conversion {
  const input = readInput(hook, { receivedAtNs })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return convert(input.record)
}

test('our protobuf has no fields beyond the schema', () => {
  for (const { name, conversion } of cases) {
    for (const signal of signalNames) {
      const bytes = encodeRequest(signal, conversion[signal], 'protobuf')
      expect(`${name} ${signal} ${rewrittenLength(signal, bytes)}`).toBe(`${name} ${signal} ${bytes.length}`)
    }
  }
})

test('an integer next to 2^63 stays an int64 in the JSON of otlp-transformer', () => {
  const { conversion } = cases.find(({ name }) => name === 'e25-artifact-of-the-largest-int64')!
  const json = Buffer.from(transformed(conversion, 'traces', 'json')).toString()
  expect(json).toContain('{"key":"job.artifacts.size","value":{"intValue":9223372036854775000}}')
})
