import { PRODUCT_VERSION } from '@penstock/converter'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { defaultExportRetry, OtlpEndpoint, type RequestHeaders } from '@penstock/exporter'
import type { Encoding } from '@penstock/otlp'
import type { Environment } from '../process/environment.ts'

/** The receiver of an export, and how requests are sent to it. */
export interface ReceiverSettings {
  readonly endpoint: string
  readonly token: string | undefined
  readonly headers: RequestHeaders
  readonly encoding: Encoding
  readonly concurrency: number
  readonly timeoutMs: number
  readonly retryForMs: number
}

/** Calls `use` with the receiver, and closes its connections afterwards. */
export async function withReceiver<T>(
  settings: ReceiverSettings,
  { clock, random }: Environment,
  use: (endpoint: OtlpEndpoint) => Promise<T>,
): Promise<T> {
  const client = newClient(settings)
  try {
    return await use(
      new OtlpEndpoint({
        url: settings.endpoint,
        token: settings.token,
        headers: settings.headers,
        version: PRODUCT_VERSION,
        client,
        clock,
        random,
        retry: { ...defaultExportRetry, giveUpAfterMs: settings.retryForMs },
        attemptTimeoutMs: settings.timeoutMs,
      }),
    )
  } finally {
    await client.close()
  }
}

export const hasCredential = ({ token, headers }: Pick<ReceiverSettings, 'token' | 'headers'>): boolean =>
  Boolean(token) || Object.keys(headers).length > 0

function newClient({ concurrency, timeoutMs }: ReceiverSettings): HttpClient {
  return new HttpClient({
    ...defaultHttpClientLimits,
    connections: concurrency,
    headersTimeoutMs: Math.max(timeoutMs, defaultHttpClientLimits.headersTimeoutMs),
  })
}
