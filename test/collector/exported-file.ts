import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The OTLP/JSON names of the first member of a request, and of the lists of its innermost items, by signal. */
const fields = {
  traces: { request: 'resourceSpans', items: 'spans' },
  metrics: { request: 'resourceMetrics', items: 'dataPoints' },
  logs: { request: 'resourceLogs', items: 'logRecords' },
} as const

export type Signal = keyof typeof fields

/**
 * Returns the requests of one signal that the file exporter has written, as raw OTLP/JSON lines in
 * order of arrival. An incomplete line is left out. If there is no file, nothing was exported.
 */
export function readExported(path: string, signal: Signal): string[] {
  if (!existsSync(path)) return []
  const completeLines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return completeLines.filter((line) => line.startsWith(`{"${fields[signal].request}"`))
}

/** Waits until the file contains `items` spans, data points or log records, and returns the requests. */
export async function waitForExported(path: string, signal: Signal, items: number, deadlineMs = 60_000) {
  for (const startedMs = performance.now(); ; await sleep(20)) {
    const lines = readExported(path, signal)
    const found = lines.reduce((sum, line) => sum + countItems(line, signal), 0)
    if (found >= items) return lines
    if (performance.now() - startedMs > deadlineMs) {
      throw new Error(`${path}: ${found} of ${items} ${fields[signal].items} after ${deadlineMs} ms`)
    }
  }
}

/** Counts the items of a line. Attribute names are never keys in OTLP/JSON, so the field name is sufficient to find the lists. */
export function countItems(line: string, signal: Signal): number {
  let found = 0
  JSON.parse(line, (key, value) => {
    if (key === fields[signal].items) found += value.length
    return value
  })
  return found
}
