import { exportInstruments, type MetricSample } from '@penstock/exporter'

/**
 * Returns the exporter's metrics in Prometheus' text format, in the order of the instrument table. Label names and values come
 * from that table, so nothing needs escaping.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function metricsText(samples: readonly MetricSample[]): string {
  return Object.entries(exportInstruments)
    .map(([name, { kind, about }]) => {
      const lines = samples.filter((sample) => sample.name === name).map(lineOf)
      return `# HELP ${name} ${about}\n# TYPE ${name} ${kind}\n${lines.join('')}`
    })
    .join('')
}

function lineOf({ name, labels, value }: MetricSample): string {
  const pairs = Object.entries(labels).map(([label, word]) => `${label}="${word}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
}
