import { PRODUCT_VERSION } from '@penstock/converter'
import { defaultHttpClientLimits, HttpClient } from '@penstock/delivery'
import { DeliveryStops, defaultExportRetry, OtlpEndpoint } from '@penstock/exporter'
import { type Environment, exitCodes, OutputClosed } from '../process/environment.ts'
import { write } from '../process/output.ts'
import type { RecordRun } from '../records/record-run.ts'
import { ExportRun, type ExportSettings } from './export-run.ts'

/**
 * Delivers the records of the run that `open` creates, and prints the result.
 *
 * @returns the exit code: 0 only if everything was accepted
 */
export async function performExport(
  settings: ExportSettings,
  environment: Environment,
  open: (parts: { readonly endpoint: OtlpEndpoint; readonly stops: DeliveryStops }) => Promise<RecordRun>,
): Promise<number> {
  const { clock, random, stdout } = environment
  const client = newClient(settings)
  try {
    const endpoint = new OtlpEndpoint({
      url: settings.endpoint,
      token: settings.token,
      headers: settings.headers,
      version: PRODUCT_VERSION,
      client,
      clock,
      random,
      retry: { ...defaultExportRetry, giveUpAfterMs: settings.retryForMs },
      attemptTimeoutMs: settings.timeoutMs,
    })
    const stops = new DeliveryStops(settings.signals)
    const run = await open({ endpoint, stops })
    const delivery = await ExportRun.open(settings, environment, { endpoint, run, stops })
    try {
      await delivery.perform()
    } finally {
      await writeIfWanted(stdout, `${delivery.result().join('\n')}\n`)
    }
    return delivery.complete ? run.report.exitCode : exitCodes.incomplete
  } finally {
    await client.close()
  }
}

/** Writes the text. Closed output is ignored, because it does not affect the result of the export. */
async function writeIfWanted(stdout: Environment['stdout'], text: string): Promise<void> {
  try {
    await write(stdout, text)
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error
  }
}

function newClient({ concurrency, timeoutMs }: ExportSettings): HttpClient {
  return new HttpClient({
    ...defaultHttpClientLimits,
    connections: concurrency,
    headersTimeoutMs: Math.max(timeoutMs, defaultHttpClientLimits.headersTimeoutMs),
  })
}
