import { type InstrumentName, instruments } from './instruments.ts'

export type Labels = Readonly<Record<string, string>>

/** One series. Frequent users should keep the cell, because finding it costs more than adding to it. */
export interface Cell {
  readonly labels: Labels
  value: number
}

export interface HistogramCell {
  readonly labels: Labels
  /** One count per bound, and one for larger values. */
  readonly counts: number[]
  sum: number
}

/** The series of one process, which can be sent to another process and merged. */
export interface MetricsReport {
  readonly cells: readonly { readonly name: InstrumentName; readonly labels: Labels; readonly value: number }[]
  readonly histograms: readonly {
    readonly name: InstrumentName
    readonly labels: Labels
    readonly counts: readonly number[]
    readonly sum: number
  }[]
}

/** Limits the series that clients can create. Beyond it, new series are counted together in one without labels. */
const MAX_SERIES_PER_INSTRUMENT = 20_000

export class MetricRegistry {
  readonly #cells = new Map<InstrumentName, Map<string, Cell>>()
  readonly #histograms = new Map<InstrumentName, Map<string, HistogramCell>>()

  cell(name: InstrumentName, labels: Labels = {}): Cell {
    return seriesOf(this.#cells, name, labels, (kept) => ({ labels: kept, value: 0 }))
  }

  histogram(name: InstrumentName, labels: Labels = {}): HistogramCell {
    const bounds = instruments[name].bounds ?? []
    return seriesOf(this.#histograms, name, labels, (kept) => ({
      labels: kept,
      counts: new Array<number>(bounds.length + 1).fill(0),
      sum: 0,
    }))
  }

  /** Replaces all series of a gauge. Series that are not in the new ones are removed. */
  replace(name: InstrumentName, series: Iterable<readonly [Labels, number]>): void {
    this.#cells.delete(name)
    let count = 0
    for (const [labels, value] of series) {
      // Excess gauges are dropped, because a shared series would have no meaning for a gauge.
      if (count === MAX_SERIES_PER_INSTRUMENT) return
      this.cell(name, labels).value = value
      count += 1
    }
  }

  /** Removes the series of something that no longer exists. A cell that is still referenced is no longer reported. */
  remove(name: InstrumentName, labels: Labels): void {
    this.#cells.get(name)?.delete(JSON.stringify(labels))
  }

  record(name: InstrumentName, labels: Labels, value: number): void {
    observe(this.histogram(name, labels), instruments[name].bounds ?? [], value)
  }

  report(): MetricsReport {
    return {
      cells: [...this.#cells].flatMap(([name, series]) =>
        [...series.values()].map(({ labels, value }) => ({ name, labels, value })),
      ),
      histograms: [...this.#histograms].flatMap(([name, series]) =>
        [...series.values()].map(({ labels, counts, sum }) => ({ name, labels, counts: [...counts], sum })),
      ),
    }
  }
}

export function observe(cell: HistogramCell, bounds: readonly number[], value: number): void {
  let index = 0
  while (index < bounds.length && value > bounds[index]!) index += 1
  cell.counts[index]! += 1
  cell.sum += value
}

function seriesOf<Series>(
  all: Map<InstrumentName, Map<string, Series>>,
  name: InstrumentName,
  labels: Labels,
  make: (labels: Labels) => Series,
): Series {
  const series = all.get(name) ?? new Map<string, Series>()
  all.set(name, series)
  const key = JSON.stringify(labels)
  const known = series.get(key)
  if (known !== undefined) return known
  if (series.size >= MAX_SERIES_PER_INSTRUMENT && key !== '{}') return seriesOf(all, name, {}, make)
  const made = make(labels)
  series.set(key, made)
  return made
}
