import { type KeyValue, type OtlpRequest, type Span, SpanKind, StatusCode } from '@penstock/otlp'

/** A trace in the JSON of Jaeger's user interface. */
export interface UiTrace {
  readonly traceID: string
  readonly spans: readonly UiSpan[]
  readonly processes: Readonly<Record<string, { readonly serviceName: string; readonly tags: readonly UiTag[] }>>
}

export interface UiSpan {
  readonly traceID: string
  readonly spanID: string
  readonly flags: number
  readonly operationName: string
  readonly references: readonly { readonly refType: string; readonly traceID: string; readonly spanID: string }[]
  /** Microseconds since 1970. */
  readonly startTime: number
  /** Microseconds. */
  readonly duration: number
  readonly tags: readonly UiTag[]
  readonly logs: readonly { readonly timestamp: number; readonly fields: readonly UiTag[] }[]
  readonly processID: string
  readonly warnings: readonly string[] | null
}

export interface UiTag {
  readonly key: string
  readonly type: string
  readonly value: unknown
}

const kinds: Readonly<Record<string, number>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}
const statuses: Readonly<Record<string, number>> = { OK: StatusCode.OK, ERROR: StatusCode.ERROR }

/** The tags that represent other fields of a span than its attributes. */
const fieldTags: ReadonlySet<string> = new Set([
  'span.kind',
  'error',
  'otel.status_code',
  'otel.status_description',
  'otel.scope.name',
  'otel.scope.version',
  'w3c.tracestate',
])

/** Returns the spans of a trace, each with its resource and scope, as far as the JSON of the user interface contains them. */
export function decodedUiTrace({ spans, processes }: UiTrace): OtlpRequest<'traces'> {
  return {
    resources: spans.map((span) => {
      const { serviceName, tags } = processes[span.processID]!
      const serviceTag = { key: 'service.name', type: 'string', value: serviceName }
      return {
        resource: { attributes: attributesOf([serviceTag, ...tags]), droppedAttributesCount: 0 },
        schemaUrl: '',
        scopes: [
          {
            scope: {
              name: textOf(span, 'otel.scope.name'),
              version: textOf(span, 'otel.scope.version'),
              attributes: [],
              droppedAttributesCount: 0,
            },
            schemaUrl: '',
            items: [spanOf(span)],
          },
        ],
      }
    }),
  }
}

function spanOf(span: UiSpan): Span {
  const startTimeUnixNano = BigInt(span.startTime) * 1000n
  const parent = span.references.find(({ refType, traceID }) => refType === 'CHILD_OF' && traceID === span.traceID)
  const status = statuses[textOf(span, 'otel.status_code')]
  return {
    traceId: span.traceID,
    spanId: span.spanID,
    traceState: textOf(span, 'w3c.tracestate'),
    parentSpanId: parent?.spanID ?? '',
    flags: span.flags,
    name: span.operationName,
    kind: kinds[textOf(span, 'span.kind')] ?? SpanKind.UNSPECIFIED,
    startTimeUnixNano,
    endTimeUnixNano: startTimeUnixNano + BigInt(span.duration) * 1000n,
    attributes: attributesOf(span.tags.filter(({ key }) => !fieldTags.has(key))),
    droppedAttributesCount: 0,
    events: span.logs.map(({ timestamp, fields }) => ({
      timeUnixNano: BigInt(timestamp) * 1000n,
      name: String(fields.find(({ key }) => key === 'event')?.value ?? ''),
      attributes: attributesOf(fields.filter(({ key }) => key !== 'event')),
      droppedAttributesCount: 0,
    })),
    droppedEventsCount: 0,
    links: span.references
      .filter((reference) => reference !== parent)
      .map(({ traceID, spanID }) => ({
        traceId: traceID,
        spanId: spanID,
        traceState: '',
        attributes: [],
        droppedAttributesCount: 0,
        flags: 0,
      })),
    droppedLinksCount: 0,
    status: status === undefined ? undefined : { code: status, message: textOf(span, 'otel.status_description') },
    ...(span.warnings && { warnings: span.warnings }),
  }
}

const textOf = ({ tags }: UiSpan, key: string): string => String(tags.find((tag) => tag.key === key)?.value ?? '')

const attributesOf = (tags: readonly UiTag[]): KeyValue[] =>
  tags.map(({ key, type, value }): KeyValue => {
    switch (type) {
      case 'bool':
        return { key, type: 'bool', value: value === true }
      // Beyond 2^53 it is a text.
      case 'int64':
        return { key, type: 'int', value: BigInt(value as number | string) }
      case 'float64':
        return { key, type: 'double', value: Number(value) }
      default:
        return { key, type: 'string', value: String(value) }
    }
  })
