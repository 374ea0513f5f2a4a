import { type Instrument, type InstrumentName, instruments } from './instruments.ts'
import { mergeReports, sortedLabels } from './merge-reports.ts'
import type { Labels, MetricsReport } from './registry.ts'

/** The only format served. OpenMetrics requires a `_total` suffix of counters, but the names of these metrics are fixed. */
export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Returns a page for Prometheus to scrape, with the series of all processes. Instruments are in the order of their table,
 * and the series of each in the order of their labels. Instruments without series are left out.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 */
export function prometheusText(reports: readonly MetricsReport[]): string {
  const { cells, histograms } = mergeReports(reports)
  const linesOf = new Map<InstrumentName, { readonly labels: string; readonly lines: string }[]>()
  const add = (name: InstrumentName, labels: string, lines: string) => {
    const known = linesOf.get(name)
    if (known === undefined) linesOf.set(name, [{ labels, lines }])
    else known.push({ labels, lines })
  }

  for (const { name, labels, value } of cells) {
    const pairs = labelPairs(labels)
    add(name, pairs, sample(name, pairs, value))
  }
  for (const { name, labels, counts, sum } of histograms) {
    const pairs = labelPairs(labels)
    add(name, pairs, histogramSamples(name, pairs, counts, sum))
  }

  let page = ''
  for (const [name, instrument] of Object.entries(instruments) as [InstrumentName, Instrument][]) {
    const series = linesOf.get(name)
    if (series === undefined) continue
    page += `# HELP ${name} ${helpText(instrument.description)}\n# TYPE ${name} ${instrument.kind}\n`
    for (const { lines } of series.sort((a, b) => (a.labels < b.labels ? -1 : 1))) page += lines
  }
  return page
}

function histogramSamples(name: InstrumentName, pairs: string, counts: readonly number[], sum: number): string {
  const bounds = [...(instruments[name].bounds ?? []), Number.POSITIVE_INFINITY]
  let lines = ''
  let count = 0
  for (const [index, bound] of bounds.entries()) {
    count += counts[index] ?? 0
    lines += sample(`${name}_bucket`, joined(pairs, `le="${numberText(bound)}"`), count)
  }
  return lines + sample(`${name}_sum`, pairs, sum) + sample(`${name}_count`, pairs, count)
}

function sample(name: string, pairs: string, value: number): string {
  return `${name}${pairs === '' ? '' : `{${pairs}}`} ${numberText(value)}\n`
}

/** Returns the label pairs of a series. To Prometheus, an empty value and an absent label are the same. */
function labelPairs(labels: Labels): string {
  return sortedLabels(labels)
    .map(([name, value]) => `${name}="${labelText(value)}"`)
    .join(',')
}

const joined = (pairs: string, pair: string): string => (pairs === '' ? pair : `${pairs},${pair}`)

const helpText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const labelText = (text: string): string => helpText(text).replaceAll('"', '\\"')

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
