import { instruments } from './instruments.ts'
import type { Labels, MetricsReport } from './registry.ts'

type Cell = MetricsReport['cells'][number]
type Histogram = MetricsReport['histograms'][number]

/**
 * Merges the reports of several processes: counters and histograms are summed, and each gauge is combined as its instrument
 * defines. The order of labels does not distinguish series.
 */
export function mergeReports(reports: readonly MetricsReport[]): MetricsReport {
  const cells = new Map<string, Cell>()
  const histograms = new Map<string, Histogram>()
  for (const report of reports) {
    for (const cell of report.cells) addSeries(cells, cell, joinCells)
    for (const histogram of report.histograms) addSeries(histograms, histogram, joinHistograms)
  }
  return { cells: [...cells.values()], histograms: [...histograms.values()] }
}

/** Returns what a process that has ended still contributes: its counters and histograms, but not its gauges. */
export function countersOnly(report: MetricsReport): MetricsReport {
  return { ...report, cells: report.cells.filter(({ name }) => instruments[name].kind === 'counter') }
}

/** Returns the labels sorted by name. */
export function sortedLabels(labels: Labels): [name: string, value: string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
}

export function seriesKey({ name, labels }: { readonly name: string; readonly labels: Labels }): string {
  return JSON.stringify([name, ...sortedLabels(labels)])
}

function addSeries<Series extends Cell | Histogram>(
  all: Map<string, Series>,
  series: Series,
  join: (a: Series, b: Series) => Series,
): void {
  const key = seriesKey(series)
  const known = all.get(key)
  all.set(key, known === undefined ? series : join(known, series))
}

function joinCells(a: Cell, b: Cell): Cell {
  switch (instruments[a.name].aggregation) {
    case 'min':
      return { ...a, value: Math.min(a.value, b.value) }
    case 'max':
      return { ...a, value: Math.max(a.value, b.value) }
    default:
      return { ...a, value: a.value + b.value }
  }
}

function joinHistograms(a: Histogram, b: Histogram): Histogram {
  return { ...a, counts: a.counts.map((count, index) => count + (b.counts[index] ?? 0)), sum: a.sum + b.sum }
}
