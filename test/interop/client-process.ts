import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { Signal } from '../collector/exported-file.ts'
import { preparedPaths } from './prepared.ts'

/** An order for one export by an OpenTelemetry SDK. The programs in js/, python/ and go/ read it as a line of JSON. */
export interface ExportOrder {
  /** The id, which the outcome repeats. */
  readonly id: string
  /** The name of the exporter. Orders with the same name share the exporter with the settings of the first order. */
  readonly exporter: string
  readonly protocol: 'http/json' | 'http/protobuf' | 'grpc'
  readonly signal: Signal
  /** The endpoint `http://host:port` without a path. */
  readonly endpoint: string
  readonly token?: string | undefined
  readonly compression: 'none' | 'gzip'
  /** The name of the span or the metric, or the body of the log record. Each export has one item. */
  readonly name: string
  /** The length of an attribute that makes the export larger. */
  readonly padding: number
  /** The timeout of the export including retries. */
  readonly timeoutMs: number
  /** The wait before the first retry, if it can be configured (Go). */
  readonly retryMs: number
}

export interface ExportOutcome {
  /** The result that the exporter reported to the SDK. */
  readonly ok: boolean
  /** The error message of the exporter. */
  readonly error: string
}

export const sdkLanguages = ['js', 'python', 'go'] as const
export type SdkLanguage = (typeof sdkLanguages)[number]

export interface SdkClient {
  /** Exports an item. Any number of exports may run concurrently. */
  export(order: ExportOrder): Promise<ExportOutcome>
}

/** The id of the first line that each program prints. */
const readyId = 'ready'

/** Starts the exporters of one SDK in a separate process, which is ended with the test. */
async function startSdkClient(language: SdkLanguage): Promise<SdkClient> {
  const [command, ...args] = commandOf(language)
  // The environment of the test runner is not inherited, because it may contain OTEL_* or proxy variables.
  const child = spawn(command!, args, { env: { PATH: process.env.PATH ?? '' }, stdio: ['pipe', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const waiting = new Map<string, (outcome: ExportOutcome) => void>()
  const ready = new Promise<ExportOutcome>((resolve) => waiting.set(readyId, resolve))
  let said = ''
  child.stderr.on('data', (part) => {
    said += part
  })
  child.once('close', (code) => {
    for (const resolve of waiting.values())
      resolve({ ok: false, error: `the ${language} client ended (${code}): ${said}` })
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ok, error } = JSON.parse(line) as ExportOutcome & { id: string }
    waiting.get(id)?.({ ok, error })
    waiting.delete(id)
  })
  const { error } = await ready
  if (error) throw new Error(error)
  return {
    export: (order) =>
      new Promise((resolve) => {
        waiting.set(order.id, resolve)
        child.stdin.write(`${JSON.stringify(order)}\n`)
      }),
  }
}

function commandOf(language: SdkLanguage): string[] {
  const { python, go } = preparedPaths()
  switch (language) {
    case 'js':
      return [process.execPath, join(import.meta.dirname, 'js/interop.mjs')]
    case 'python':
      return [python, '-u', join(import.meta.dirname, 'python/interop.py')]
    case 'go':
      return [go]
  }
}

export async function startSdkClients(): Promise<Readonly<Record<SdkLanguage, SdkClient>>> {
  const [js, python, go] = await Promise.all(sdkLanguages.map(startSdkClient))
  return { js: js!, python: python!, go: go! }
}
