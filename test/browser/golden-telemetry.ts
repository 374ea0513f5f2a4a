import { readFileSync } from 'node:fs'

/**
 * Returns the telemetry of a fixture, as a request body.
 *
 * @param beginsNs the start of its earliest span; by default its own times
 */
// biome-ignore lint/suspicious/noExplicitAny: the tests know the shape of OTLP
export function golden(name: string, signal: 'traces' | 'metrics' | 'logs', beginsNs?: bigint): any {
  const text = readFileSync(new URL(`../../fixtures/golden/${name}.${signal}.json`, import.meta.url), 'utf8')
  if (beginsNs === undefined) return JSON.parse(text)
  const traces = readFileSync(new URL(`../../fixtures/golden/${name}.traces.json`, import.meta.url), 'utf8')
  const starts = [...traces.matchAll(/"startTimeUnixNano": *"(\d+)"/g)].map(([, ns]) => BigInt(ns!))
  const shift = beginsNs - starts.reduce((a, b) => (a < b ? a : b))
  return JSON.parse(text, (key, value) =>
    /UnixNano$/.test(key) && typeof value === 'string' ? String(BigInt(value) + shift) : value,
  )
}
