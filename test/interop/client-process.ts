import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { Signal } from '../collector/exported-file.ts'
import { preparedPaths } from './prepared.ts'

/** One export by an OpenTelemetry SDK, as the programs in js/, python/ and go/ read it: a line of JSON. */
export interface ExportOrder {
  /** Comes back with the outcome. */
  readonly id: string
  /** Orders with the same one use the same exporter, and what the first of them says of it. */
  readonly exporter: string
  readonly protocol: 'http/json' | 'http/protobuf' | 'grpc'
  readonly signal: Signal
  /** `http://host:port`, without a path. */
  readonly endpoint: string
  readonly token?: string | undefined
  readonly compression: 'none' | 'gzip'
  /** Of the span or the metric, or body of the log record: there is one item in each export. */
  readonly name: string
  /** Characters of an attribute that makes the export larger. */
  readonly padding: number
  /** Of the whole export, retries included. */
  readonly timeoutMs: number
  /** Before the first retry, where that can be chosen (Go). */
  readonly retryMs: number
}

export interface ExportOutcome {
  /** What the exporter told the SDK. */
  readonly ok: boolean
  /** In its own words. */
  readonly error: string
}

export const sdkLanguages = ['js', 'python', 'go'] as const
export type SdkLanguage = (typeof sdkLanguages)[number]

export interface SdkClient {
  /** Any number at once. */
  export(order: ExportOrder): Promise<ExportOutcome>
}

/** What each of the programs says first. */
const readyId = 'ready'

/** The exporters of one language's SDK in a process of their own, which ends with the test. */
async function startSdkClient(language: SdkLanguage): Promise<SdkClient> {
  const [command, ...args] = commandOf(language)
  // Not what the test runner or its machine says of OTEL_*, proxies and the like.
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
