import { type DeliveryReport, deliverAll, type OtlpEndpoint } from '@penstock/exporter'
import { perSignal, RequestEncoder, type Signal } from '@penstock/otlp'
import { deliveryTable } from '../export-run/delivery-table.ts'
import { hasCredential, type ReceiverSettings, withReceiver } from '../export-run/open-receiver.ts'
import { refusalAdvice } from '../export-run/refusal-advice.ts'
import { type Environment, exitCodes } from '../process/environment.ts'
import { writeIfOpen } from '../process/output.ts'
import { type TestReportSource, testReportChunks } from './test-report-requests.ts'

/** Delivers the spans and metrics of the reports, and prints the result. Returns the exit code: 0 only if everything was accepted. */
export async function deliverReports(
  source: TestReportSource,
  signals: readonly Signal[],
  settings: ReceiverSettings,
  environment: Environment,
): Promise<number> {
  return withReceiver(settings, environment, async (endpoint) => {
    const delivery = new Delivery(endpoint, settings)
    const chunks = testReportChunks(source, new RequestEncoder(settings.encoding), signals)
    const report = await delivery.perform(chunks, environment)
    await writeIfOpen(environment.stdout, `${delivery.result(report, signals).join('\n')}\n`)
    return report.complete ? exitCodes.ok : exitCodes.incomplete
  })
}

class Delivery {
  readonly #endpoint: OtlpEndpoint
  readonly #settings: ReceiverSettings
  readonly #retries = perSignal(() => 0)
  readonly #advice = new Set<string>()

  constructor(endpoint: OtlpEndpoint, settings: ReceiverSettings) {
    this.#endpoint = endpoint
    this.#settings = settings
  }

  perform(chunks: Parameters<typeof deliverAll>[1], { signal }: Environment): Promise<DeliveryReport> {
    return deliverAll(this.#endpoint, chunks, {
      concurrency: this.#settings.concurrency,
      signal,
      onSettled: (chunk, { attempts, outcome, status }) => {
        this.#retries[chunk.signal] += Math.max(attempts - 1, 0)
        if (outcome.kind !== 'dead') return
        const advice = refusalAdvice(status, this.#endpoint.urls[chunk.signal], hasCredential(this.#settings))
        if (advice !== undefined) this.#advice.add(advice)
      },
    })
  }

  result({ totals, complete, stopped }: DeliveryReport, signals: readonly Signal[]): string[] {
    const ending = stopped === undefined ? '' : `; stopped: ${stopped}`
    const verdict = complete ? 'everything accepted' : `some items were not accepted${ending}`
    return [...deliveryTable(totals, signals, this.#retries), ...this.#advice, '', verdict]
  }
}
