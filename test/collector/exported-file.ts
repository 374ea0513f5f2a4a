import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** OTLP/JSON names: what a request of each signal begins with, and the lists of its innermost items. */
const fields = {
  traces: { request: 'resourceSpans', items: 'spans' },
  metrics: { request: 'resourceMetrics', items: 'dataPoints' },
  logs: { request: 'resourceLogs', items: 'logRecords' },
} as const

export type Signal = keyof typeof fields

/**
 * The requests of one signal that the file exporter has written so far, as raw OTLP/JSON lines in
 * order of arrival. A line still being written is left out; no file yet means nothing was exported.
 */
export function readExported(path: string, signal: Signal): string[] {
  if (!existsSync(path)) return []
  const completeLines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return completeLines.filter((line) => line.startsWith(`{"${fields[signal].request}"`))
}

/** The same, once the file holds that many spans, data points or log records. */
export async function waitForExported(path: string, signal: Signal, items: number, deadlineMs = 10_000) {
  for (const startedMs = performance.now(); ; await sleep(20)) {
    const lines = readExported(path, signal)
    const found = lines.reduce((sum, line) => sum + countItems(line, signal), 0)
    if (found >= items) return lines
    if (performance.now() - startedMs > deadlineMs) {
      throw new Error(`${path}: ${found} of ${items} ${fields[signal].items} after ${deadlineMs} ms`)
    }
  }
}

/** Attribute names are values in OTLP/JSON, never keys, so the field name alone finds the lists. */
export function countItems(line: string, signal: Signal): number {
  let found = 0
  JSON.parse(line, (key, value) => {
    if (key === fields[signal].items) found += value.length
    return value
  })
  return found
}
