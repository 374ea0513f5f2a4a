import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Signal } from '../../api/answers.ts'
import { EXAMPLE_SERVICE, senderSettings } from './sender-settings.ts'

const URL_OF_TESTS = 'https://otlp.example:4318'
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const settingsOf = (signals: readonly Signal[], url = URL_OF_TESTS) =>
  senderSettings(url, { token: 'psin_1', signals }, TRACE_ID)

test('sets the variables of SDKs', () => {
  expect(settingsOf(['logs']).environment).toBe(`export OTEL_EXPORTER_OTLP_ENDPOINT=https://otlp.example:4318
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20psin_1`)
})

test('has an exporter of the collector without the token itself', () => {
  const { collector } = settingsOf(['logs'])
  expect(collector).toContain('endpoint: https://otlp.example:4318\n')
  expect(collector).not.toContain('psin_1')
})

/** Runs a command in which curl is replaced by a function, and returns the arguments that it got. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

test.each([
  [['traces', 'metrics', 'logs'], 'traces', 'resourceSpans'],
  [['metrics', 'logs'], 'logs', 'resourceLogs'],
  [['metrics'], 'metrics', 'resourceMetrics'],
] as const)('has a command for a token of %j', (signals, signal, member) => {
  const sent = argumentsOf(settingsOf(signals).command!)
  expect(sent.at(-1)).toBe(`${URL_OF_TESTS}/v1/${signal}`)
  const body = JSON.parse(sent[sent.indexOf('-d') + 1]!)
  expect(Object.keys(body)).toEqual([member])
  expect(JSON.stringify(body)).toMatch(/"\w*imeUnixNano":"1\d{18}"/)
  expect(sent.join(' ')).not.toContain('psin_1')
})

test('the command sends a whole span of the trace', () => {
  const sent = argumentsOf(settingsOf(['traces']).command!)
  const [{ resource, scopeSpans }] = JSON.parse(sent[sent.indexOf('-d') + 1]!).resourceSpans
  const [span] = scopeSpans[0].spans
  expect(resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: EXAMPLE_SERVICE } }])
  expect(span).toMatchObject({ traceId: TRACE_ID, name: 'The token works.', kind: 1 })
  expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
})

test('has no command for a token of another signal, and quotes for the shell', () => {
  expect(settingsOf(['profiles']).command).toBeUndefined()
  const url = "https://otlp.example/it's"
  expect(argumentsOf(settingsOf(['logs'], url).command!).at(-1)).toBe(`${url}/v1/logs`)
})
