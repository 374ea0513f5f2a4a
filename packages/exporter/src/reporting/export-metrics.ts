import type { Outcome } from '@penstock/delivery'
import { type Signal, signalNames } from '@penstock/otlp'
import { notEnqueuedReasons } from '../records/intake-request.ts'
import { fetchAttemptOutcomes, fetchOutcomes } from './fetch-outcomes.ts'

export interface ExportInstrument {
  readonly kind: 'counter' | 'gauge'
  readonly unit: string
  readonly about: string
  /** The possible values of each label, by label name. */
  readonly labels: Readonly<Record<string, readonly string[]>>
}

/** The reasons why a delivery is dead. */
const deadClasses = ['authentication', 'refused', 'gave_up', 'unsendable'] as const
export type DeadClass = (typeof deadClasses)[number]

const attemptOutcomes = ['delivered', 'retry', 'dead'] as const satisfies readonly Outcome['kind'][]

const rows = {
  otelcol_exporter_sent_spans: { kind: 'counter', unit: '{spans}', labels: {}, about: 'Spans an endpoint accepted.' },
  otelcol_exporter_sent_metrics: {
    kind: 'counter',
    unit: '{metrics}',
    labels: {},
    about: 'Metrics (not their points) an endpoint accepted.',
  },
  otelcol_exporter_sent_log_records: {
    kind: 'counter',
    unit: '{records}',
    labels: {},
    about: 'Log records an endpoint accepted.',
  },
  otelcol_exporter_send_failed_spans: {
    kind: 'counter',
    unit: '{spans}',
    labels: {},
    about: 'Spans in requests that were not accepted; each further attempt counts again.',
  },
  otelcol_exporter_send_failed_metrics: {
    kind: 'counter',
    unit: '{metrics}',
    labels: {},
    about: 'Metrics (not their points) in requests that were not accepted; each further attempt counts again.',
  },
  otelcol_exporter_send_failed_log_records: {
    kind: 'counter',
    unit: '{records}',
    labels: {},
    about: 'Log records in requests that were not accepted; each further attempt counts again.',
  },
  otelcol_exporter_queue_size: {
    kind: 'gauge',
    unit: '{deliveries}',
    labels: {},
    about:
      'Deliveries that wait or are in progress, in the database that all processes share; 100,000 means at least as many.',
  },
  penstock_export_dead_letters: {
    kind: 'gauge',
    unit: '{deliveries}',
    labels: {},
    about:
      'Dead deliveries that are kept for a replay, in the database that all processes share; 100,000 means at least as many.',
  },
  penstock_export_records: {
    kind: 'counter',
    unit: '{records}',
    labels: { outcome: ['enqueued', ...notEnqueuedReasons] },
    about:
      'Accepted pipeline records and job hooks, by outcome. A repeated hook counts again; a PUT that changes nothing in the core is not counted.',
  },
  penstock_export_attempts: {
    kind: 'counter',
    unit: '{requests}',
    labels: { signal: signalNames, outcome: attemptOutcomes },
    about: 'Requests to endpoints, by signal and outcome: delivered, retry, dead (refused permanently).',
  },
  penstock_export_delivered: {
    kind: 'counter',
    unit: '{deliveries}',
    labels: { signal: signalNames },
    about: 'Complete exports; each is one signal of one pipeline.',
  },
  penstock_export_dead: {
    kind: 'counter',
    unit: '{deliveries}',
    labels: { signal: signalNames, reason: deadClasses },
    about:
      'Exports given up, by reason: authentication (401, 403), refused, gave_up (out of time), unsendable (no endpoint, or no readable record).',
  },
  penstock_export_authentication_refusals: {
    kind: 'counter',
    unit: '{requests}',
    labels: { signal: signalNames },
    about: 'Requests refused because of their credential.',
  },
  penstock_export_rejected_items: {
    kind: 'counter',
    unit: '{items}',
    labels: { signal: signalNames },
    about: 'Spans, data points and log records that an endpoint rejected of requests it accepted (partial success).',
  },
  penstock_export_lost_claims: {
    kind: 'counter',
    unit: '{deliveries}',
    labels: { signal: signalNames },
    about: 'Deliveries that took longer than their lease; another claim sends them again.',
  },
  penstock_run_fetches: {
    kind: 'counter',
    unit: '{runs}',
    labels: { outcome: fetchOutcomes },
    about:
      'Runs of sources with an API token, by how reading them from their forge ended. All but read are exported with the jobs of their hooks, if a hook describes the run.',
  },
  penstock_run_fetch_attempts: {
    kind: 'counter',
    unit: '{attempts}',
    labels: { outcome: fetchAttemptOutcomes },
    about: 'Attempts to read a run from its forge, by outcome.',
  },
  penstock_run_fetch_queue_size: {
    kind: 'gauge',
    unit: '{runs}',
    labels: {},
    about: 'Runs that are still to be read from their forge; 100,000 means at least as many.',
  },
  penstock_run_fetch_refused_tokens: {
    kind: 'gauge',
    unit: '{sources}',
    labels: {},
    about: 'Sources with an API token that their forge refused at the last attempt.',
  },
} as const satisfies Readonly<Record<string, ExportInstrument>>
export type ExportInstrumentName = keyof typeof rows

/** The metrics of the exporter, with the Collector's names where it has the same metric. `npm run docs` prints them. */
export const exportInstruments: Readonly<Record<ExportInstrumentName, ExportInstrument>> = rows

/** The names of the items of each signal in metric names, as in `otelcol_exporter_sent_spans`. */
export const itemNames = { traces: 'spans', metrics: 'metrics', logs: 'log_records' } as const satisfies Record<
  Signal,
  string
>

type LabelsOf<Name extends ExportInstrumentName> = {
  readonly [Label in keyof (typeof rows)[Name]['labels']]: string &
    ((typeof rows)[Name]['labels'][Label] & readonly string[])[number]
}

export interface MetricSample {
  readonly name: ExportInstrumentName
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The metrics of one process. Every series exists from the start, with the value 0. */
export class ExportMetrics {
  readonly #values = new Map<string, { readonly sample: Omit<MetricSample, 'value'>; value: number }>()

  constructor() {
    for (const [name, { labels }] of Object.entries(exportInstruments) as [ExportInstrumentName, ExportInstrument][]) {
      for (const each of combinations(Object.entries(labels))) {
        this.#values.set(seriesKey(name, each), { sample: { name, labels: each }, value: 0 })
      }
    }
  }

  add<Name extends ExportInstrumentName>(name: Name, labels: LabelsOf<Name>, value = 1): void {
    this.#series(name, labels).value += value
  }

  set<Name extends ExportInstrumentName>(name: Name, labels: LabelsOf<Name>, value: number): void {
    this.#series(name, labels).value = value
  }

  /** Returns all series in the order of the table. */
  snapshot(): MetricSample[] {
    return [...this.#values.values()].map(({ sample, value }) => ({ ...sample, value }))
  }

  #series(name: ExportInstrumentName, labels: Readonly<Record<string, string>>) {
    const series = this.#values.get(seriesKey(name, labels))
    if (series === undefined) throw new Error(`${name} has no series ${JSON.stringify(labels)}`)
    return series
  }
}

/** Returns the key of a series, with labels in the order of the table. */
function seriesKey(name: ExportInstrumentName, labels: Readonly<Record<string, string>>): string {
  return [name, ...Object.keys(exportInstruments[name].labels).map((label) => labels[label])].join(' ')
}

function combinations(labels: readonly (readonly [string, readonly string[]])[]): Readonly<Record<string, string>>[] {
  const [first, ...others] = labels
  if (first === undefined) return [{}]
  const [name, values] = first
  return values.flatMap((value) => combinations(others).map((rest) => ({ [name]: value, ...rest })))
}
