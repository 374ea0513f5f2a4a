import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { ProbedService } from './probed-service.ts'

const SPANS = 480_000
const BETWEEN_MS = 50

export interface WriterMeasurement {
  /** The status of the large request. */
  readonly status: number
  /** The statuses of the small requests that another sender sent while the store wrote the large one. */
  readonly others: ReadonlySet<number>
  readonly sentBeside: number
  /** The longest wait of a small request. */
  readonly longestWaitMs: number
  readonly bytes: number
}

const span = `{"traceId":"${'a'.repeat(32)}","spanId":"${'b'.repeat(16)}"}`
const requestOf = (spans: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`

/** Sends a short gzip of many spans into the embedded store, and small requests of another sender until it is stored. */
export async function measureWriter({ otlpUrl }: ProbedService): Promise<WriterMeasurement> {
  const body = gzipSync(requestOf(`${`${span},`.repeat(SPANS - 1)}${span}`))
  const send = async (content: Uint8Array | string, encoding: object): Promise<number> => {
    const response = await fetch(`${otlpUrl}/v1/traces`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...encoding },
      body: content,
    })
    await response.arrayBuffer()
    return response.status
  }
  let isDone = false
  const large = send(body, { 'Content-Encoding': 'gzip' }).finally(() => {
    isDone = true
  })
  const others = new Set<number>()
  let longestWaitMs = 0
  let sentBeside = 0
  while (!isDone) {
    const startMs = performance.now()
    others.add(await send(requestOf(span.replace('a'.repeat(32), 'c'.repeat(32))), {}))
    longestWaitMs = Math.max(longestWaitMs, performance.now() - startMs)
    sentBeside += 1
    await sleep(BETWEEN_MS)
  }
  return { status: await large, others, sentBeside, longestWaitMs, bytes: body.length }
}
