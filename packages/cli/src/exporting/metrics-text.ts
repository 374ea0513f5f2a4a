import { exportInstruments, type MetricSample } from '@penstock/exporter'

/**
 * What the exporter says about itself, for Prometheus to scrape, in the order of its table. Names and values of labels are
 * our own words: there is nothing to escape.
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
