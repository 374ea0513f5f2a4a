import { type AccumulatorState, accumulate, metricParts, newAccumulator, type StreamState } from '@penstock/converter'
import type { DeliveryReport } from '@penstock/exporter'
import {
  defaultChunkLimits,
  type EncodedChunk,
  type Metric,
  type OtlpRequest,
  type RequestEncoder,
  type ResourceGroup,
} from '@penstock/otlp'
import { dataPointsIn } from './signal-items.ts'

interface WindowLimits {
  /** The number of pipelines with metrics that are merged into one export. */
  readonly pipelines: number
  /** The number of data points that are held for one export. */
  readonly dataPoints: number
}

const defaultWindowLimits: WindowLimits = { pipelines: 500, dataPoints: 20_000 }

interface WindowOptions {
  readonly state: AccumulatorState
  readonly nowNs: () => bigint
  readonly encoder: RequestEncoder
  readonly deliver: (
    chunks: Iterable<EncodedChunk>,
    onDelivered: (chunk: EncodedChunk) => void,
  ) => Promise<DeliveryReport>
  /** Called after each window with accepted metrics. */
  readonly save: (state: AccumulatorState) => Promise<void>
  readonly limits?: WindowLimits
}

/**
 * Exports metrics in the modes `windowed` and `cumulative`. The points of several pipelines are merged per stream, and
 * exported when a window is full and at the end.
 *
 * The state advances with each accepted chunk; a window has at least one chunk per project. A chunk that is not
 * accepted is lost and not added to any total.
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

  /** Adds the metrics of one pipeline, as returned by `convert`. */
  add(request: OtlpRequest<'metrics'>): void {
    this.#open.push(...request.resources)
    this.#pipelines += 1
    this.#dataPoints += dataPointsIn(request)
  }

  get full(): boolean {
    return this.#pipelines >= this.#limits.pipelines || this.#dataPoints >= this.#limits.dataPoints
  }

  /** Exports the open window; returns `undefined` if it is empty. */
  async flush(): Promise<DeliveryReport | undefined> {
    if (this.#pipelines === 0) return undefined
    const { encoder, nowNs, deliver, save } = this.#options
    const next = accumulate(this.#state, { resources: this.#open }, nowNs())
    this.#open = []
    this.#pipelines = 0
    this.#dataPoints = 0
    const chunks = new WindowChunks(next.request, encoder)
    const delivered = new Set<string>()
    const report = await deliver(chunks, (chunk) => {
      for (const stream of chunks.take(chunk)) delivered.add(stream)
    })
    if (delivered.size > 0) {
      this.#state = advanced(this.#state, next.state, delivered)
      await save(this.#state)
    }
    return report
  }
}

/**
 * Returns the state with the delivered streams from `next` and all others from `state`, in the accumulator's order of
 * last export.
 */
function advanced(state: AccumulatorState, next: AccumulatorState, delivered: ReadonlySet<string>): AccumulatorState {
  const streams = new Map<string, StreamState>()
  for (const [key, stream] of state.streams) {
    if (next.streams.has(key) && !delivered.has(key)) streams.set(key, stream)
  }
  for (const [key, stream] of next.streams) {
    if (delivered.has(key)) streams.set(key, stream)
  }
  return { ...next, streams }
}

/** The chunks of a window. It stores the streams of each chunk that is being sent. */
class WindowChunks implements Iterable<EncodedChunk> {
  readonly #request: OtlpRequest<'metrics'>
  readonly #encoder: RequestEncoder
  readonly #streams = new Map<EncodedChunk, readonly string[]>()

  constructor(request: OtlpRequest<'metrics'>, encoder: RequestEncoder) {
    this.#request = request
    this.#encoder = encoder
  }

  *[Symbol.iterator](): Generator<EncodedChunk> {
    for (const group of this.#request.resources) {
      const { resource, schemaUrl: resourceSchemaUrl } = group
      for (const { scope, items, schemaUrl: scopeSchemaUrl } of group.scopes) {
        const writer = this.#encoder.chunks('metrics', { resource, scope, resourceSchemaUrl, scopeSchemaUrl })
        let inChunk: Metric[] = []
        const chunked = (chunk: EncodedChunk): EncodedChunk => {
          const part = { ...group, scopes: [{ scope, items: inChunk, schemaUrl: scopeSchemaUrl }] }
          this.#streams.set(chunk, streamsIn({ resources: [part] }))
          inChunk = []
          return chunk
        }
        for (const metric of items.flatMap((item) => metricParts(item, defaultChunkLimits.maxItems))) {
          const finished = writer.add(metric)
          if (finished !== undefined) yield chunked(finished)
          inChunk.push(metric)
        }
        const rest = writer.end()
        if (rest !== undefined) yield chunked(rest)
      }
    }
  }

  /** Returns the streams with a point in the chunk, and removes the chunk. */
  take(chunk: EncodedChunk): readonly string[] {
    const streams = this.#streams.get(chunk) ?? []
    this.#streams.delete(chunk)
    return streams
  }
}

/** Returns the keys that the accumulator has for the streams of a request. */
function streamsIn(request: OtlpRequest<'metrics'>): string[] {
  const { state } = accumulate(newAccumulator('windowed', 0n), request, 0n, { maxStreams: Number.POSITIVE_INFINITY })
  return [...state.streams.keys()]
}
