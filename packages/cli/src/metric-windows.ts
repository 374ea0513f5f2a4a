import { type AccumulatorState, accumulate } from '@penstock/converter'
import type { DeliveryReport } from '@penstock/exporter'
import {
  type ChunkLimits,
  defaultChunkLimits,
  type EncodedChunk,
  type Metric,
  type OtlpRequest,
  type RequestEncoder,
  type ResourceGroup,
} from '@penstock/otlp'
import { dataPointsIn } from './signal-items.ts'

export interface WindowLimits {
  /** Pipelines whose metrics are merged into one export. */
  readonly pipelines: number
  /** Data points held until then. */
  readonly dataPoints: number
}

export const defaultWindowLimits: WindowLimits = { pipelines: 500, dataPoints: 20_000 }

export interface WindowOptions {
  readonly state: AccumulatorState
  readonly nowNs: () => bigint
  readonly encoder: RequestEncoder
  readonly deliver: (chunks: Iterable<EncodedChunk>) => Promise<DeliveryReport>
  /** Called with every state that has been accepted. */
  readonly save: (state: AccumulatorState) => Promise<void>
  readonly limits?: WindowLimits
}

/**
 * Metrics under `windowed` and `cumulative`: the points of several pipelines, merged per stream, exported when a window is
 * full and at the end.
 *
 * The state advances with what the receiver took. A window that it did not take is lost, as single requests are, and
 * counts nowhere: its pipelines may be exported again.
 */
export class MetricWindows {
  readonly #options: WindowOptions
  readonly #limits: WindowLimits
  #state: AccumulatorState
  #open: ResourceGroup<Metric>[] = []
  #pipelines = 0
  #dataPoints = 0

  constructor(options: WindowOptions) {
    this.#options = options
    this.#limits = options.limits ?? defaultWindowLimits
    this.#state = options.state
  }

  /** Adds the metrics of one pipeline, as `convert` has them. */
  add(request: OtlpRequest<'metrics'>): void {
    this.#open.push(...request.resources)
    this.#pipelines += 1
    this.#dataPoints += dataPointsIn(request)
  }

  get full(): boolean {
    return this.#pipelines >= this.#limits.pipelines || this.#dataPoints >= this.#limits.dataPoints
  }

  /** Exports the open window; `undefined` when nothing is in it. */
  async flush(): Promise<DeliveryReport | undefined> {
    if (this.#pipelines === 0) return undefined
    const { encoder, nowNs, deliver, save } = this.#options
    const { request, state } = accumulate(this.#state, { resources: this.#open }, nowNs())
    this.#open = []
    this.#pipelines = 0
    this.#dataPoints = 0
    const report = await deliver(chunksOf(request, encoder, defaultChunkLimits))
    const { items, deliveredItems } = report.totals.metrics
    if (report.stopped === undefined && deliveredItems === items) {
      this.#state = state
      await save(state)
    }
    return report
  }
}

function* chunksOf(
  { resources }: OtlpRequest<'metrics'>,
  encoder: RequestEncoder,
  limits: ChunkLimits,
): Generator<EncodedChunk> {
  for (const { resource, scopes, schemaUrl: resourceSchemaUrl } of resources) {
    for (const { scope, items, schemaUrl: scopeSchemaUrl } of scopes) {
      const writer = encoder.chunks('metrics', { resource, scope, resourceSchemaUrl, scopeSchemaUrl }, limits)
      for (const metric of items) {
        const chunk = writer.add(metric)
        if (chunk !== undefined) yield chunk
      }
      const rest = writer.end()
      if (rest !== undefined) yield rest
    }
  }
}
