import { DeliveryStops, type OtlpEndpoint } from '@penstock/exporter'
import { type Environment, exitCodes } from '../process/environment.ts'
import { writeIfOpen } from '../process/output.ts'
import type { RecordRun } from '../records/record-run.ts'
import { ExportRun, type ExportSettings } from './export-run.ts'
import { withReceiver } from './open-receiver.ts'

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
  return withReceiver(settings, environment, async (endpoint) => {
    const stops = new DeliveryStops(settings.signals)
    const run = await open({ endpoint, stops })
    const delivery = await ExportRun.open(settings, environment, { endpoint, run, stops })
    try {
      await delivery.perform()
    } finally {
      await writeIfOpen(environment.stdout, `${delivery.result().join('\n')}\n`)
    }
    return delivery.complete ? run.report.exitCode : exitCodes.incomplete
  })
}
