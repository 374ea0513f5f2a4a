export interface Instrument {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly description: string
  /** The names of the labels that a series may have. */
  readonly labels: readonly string[]
  /** The upper bounds of a histogram, inclusive. */
  readonly bounds?: readonly number[]
  /** How the values of a gauge from several processes are combined. Counters and histograms are summed. */
  readonly aggregation?: 'sum' | 'min' | 'max'
}

const durationBounds = [0.000005, 0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30]

const rows = {
  otelcol_receiver_requests: {
    kind: 'counter',
    unit: '{requests}',
    labels: ['receiver', 'transport', 'outcome'],
    description:
      'Requests answered, by receiver, transport and outcome: success, refused (by us), failure (by upstream).',
  },
  otelcol_ingestauth_decisions: {
    kind: 'counter',
    unit: '{decisions}',
    labels: ['signal', 'transport', 'mode', 'decision', 'reason'],
    description:
      'Verdicts on credentials, by signal, transport, mode, decision (allow, reject, would_reject) and reason.',
  },
  otelcol_ingestauth_token_requests: {
    kind: 'counter',
    unit: '{requests}',
    labels: ['token_id', 'token_name', 'signal'],
    description: 'Admitted requests per token.',
  },
  otelcol_ingestauth_token_bytes: {
    kind: 'counter',
    unit: 'By',
    labels: ['token_id', 'token_name', 'signal'],
    description: 'Wire bytes of admitted requests per token.',
  },
  otelcol_ingestauth_token_throttled: {
    kind: 'counter',
    unit: '{requests}',
    labels: ['token_id', 'signal', 'limit'],
    description: 'Requests over a limit of their token, by limit.',
  },
  otelcol_ingestauth_verify_duration: {
    kind: 'histogram',
    unit: 's',
    labels: [],
    description: 'Time to check a credential. One check in 64 is timed, so the count is that of the sample.',
    bounds: durationBounds,
  },
  otelcol_ingestauth_snapshot_age_seconds: {
    kind: 'gauge',
    unit: 's',
    labels: [],
    aggregation: 'max',
    description: 'Time since the store last confirmed the tokens in memory.',
  },
  otelcol_ingestauth_epoch: {
    kind: 'gauge',
    unit: '{epoch}',
    labels: [],
    aggregation: 'min',
    description: 'Epoch of tokens and enforcement in use.',
  },
  otelcol_ingestauth_propagation_seconds: {
    kind: 'histogram',
    unit: 's',
    labels: [],
    description: 'Time from a change until every process uses it.',
    bounds: durationBounds,
  },
  otelcol_ingestauth_enforcement_mode: {
    kind: 'gauge',
    unit: '{mode}',
    labels: [],
    aggregation: 'min',
    description: '0 off, 1 report, 2 warn, 3 enforce.',
  },
  otelcol_ingestauth_valid_tokens: {
    kind: 'gauge',
    unit: '{tokens}',
    labels: [],
    aggregation: 'min',
    description: 'Tokens that are currently valid.',
  },
  otelcol_ingestauth_token_expiry_seconds: {
    kind: 'gauge',
    unit: 's',
    labels: ['token_id'],
    aggregation: 'min',
    description: 'Time until each token with an expiry expires.',
  },
  otelcol_receiver_in_flight_bytes: {
    kind: 'gauge',
    unit: 'By',
    labels: ['transport'],
    aggregation: 'sum',
    description: 'Bytes of request bodies in flight, by transport.',
  },
  otelcol_receiver_active_connections: {
    kind: 'gauge',
    unit: '{connections}',
    labels: ['transport'],
    aggregation: 'sum',
    description: 'Open connections by transport.',
  },
  otelcol_receiver_client_aborted: {
    kind: 'counter',
    unit: '{requests}',
    labels: ['transport'],
    description: 'Requests that ended without an answer because the client disconnected.',
  },
  otelcol_exporter_sent_requests: {
    kind: 'counter',
    unit: '{requests}',
    labels: ['upstream'],
    description: 'Requests that an upstream accepted.',
  },
  otelcol_exporter_send_failed_requests: {
    kind: 'counter',
    unit: '{requests}',
    labels: ['upstream', 'error_type'],
    description:
      'Requests that an upstream did not accept, by error_type: rejected, too_large, throttled, credential, unknown (failed or timed out), unreachable.',
  },
  otelcol_exporter_in_flight_requests: {
    kind: 'gauge',
    unit: '{requests}',
    labels: ['upstream'],
    aggregation: 'sum',
    description: 'Requests waiting for an upstream.',
  },
  otelcol_exporter_request_duration: {
    kind: 'histogram',
    unit: 's',
    labels: ['upstream'],
    description: 'Time until an upstream answers.',
    bounds: durationBounds,
  },
  otelcol_ingestauth_coalesced_requests: {
    kind: 'histogram',
    unit: '{requests}',
    labels: [],
    description: 'Client requests per upstream request.',
    bounds: [1, 2, 4, 8, 16, 32, 64],
  },
  otelcol_ingestauth_coalesce_splits: {
    kind: 'counter',
    unit: '{splits}',
    labels: ['cause'],
    description: 'Batches that were split and sent again, by cause.',
  },
  otelcol_ingestauth_coalesce_duplicates_possible: {
    kind: 'counter',
    unit: '{requests}',
    labels: [],
    description: 'Requests that were sent again although the upstream may have accepted part of them.',
  },
} satisfies Record<string, Instrument>
export type InstrumentName = keyof typeof rows

/** The metrics of the gateway itself (O-1 to O-12), named as the collector names its own. `npm run docs` prints them. */
export const instruments: Readonly<Record<InstrumentName, Instrument>> = rows
