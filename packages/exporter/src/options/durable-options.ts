import type { ConvertOptions } from '@penstock/converter'

/** The options of durable exports, which support per-run metrics only: running totals need one process and one endpoint. */
export type DurableOptions = ConvertOptions & { readonly metricsMode: 'per-run' }

export function isDurable(options: ConvertOptions): options is DurableOptions {
  return options.metricsMode === 'per-run'
}
