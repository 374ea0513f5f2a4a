import {
  decodeRequest,
  type Encoding,
  encodeRequest,
  type KeyValue,
  type OtlpRequest,
  type Signal,
} from '@penstock/otlp'

export interface Telemetry {
  readonly signal?: Signal
  readonly service?: string
  /** The names of spans or metrics, or the bodies of log records. */
  readonly items?: readonly string[]
  readonly attributes?: Readonly<Record<string, string>>
}

const atNs = 1_789_000_000_000_000_000n
const scope = { name: 'test', version: '1', attributes: [], droppedAttributesCount: 0 }
const dropped = { attributes: [], droppedAttributesCount: 0 }

const itemOf = {
  traces: (name: string, index: number) => ({
    ...dropped,
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: (0xeee19b7ec3c1b174n + BigInt(index)).toString(16),
    traceState: '',
    parentSpanId: '',
    flags: 0,
    name,
    kind: 1,
    startTimeUnixNano: atNs,
    endTimeUnixNano: atNs + 5n,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: undefined,
  }),
  metrics: (name: string) => ({
    name,
    description: '',
    unit: '1',
    metadata: [],
    data: {
      type: 'gauge',
      dataPoints: [
        {
          attributes: [],
          startTimeUnixNano: 0n,
          timeUnixNano: atNs,
          value: { type: 'int', value: 1n },
          exemplars: [],
          flags: 0,
        },
      ],
    },
  }),
  logs: (text: string) => ({
    ...dropped,
    timeUnixNano: atNs,
    observedTimeUnixNano: atNs,
    severityNumber: 9,
    severityText: 'INFO',
    body: { type: 'string', value: text },
    flags: 0,
    traceId: '',
    spanId: '',
    eventName: '',
  }),
}

/** Encodes an export request with one resource. */
export function exportBody(
  { signal = 'traces', service = 'shop', items = ['one'], attributes = {} }: Telemetry,
  encoding: Encoding,
): Buffer {
  const texts = Object.entries({ 'service.name': service, ...attributes })
  const request = {
    resources: [
      {
        resource: {
          attributes: texts.map(([key, value]) => ({ key, type: 'string', value })),
          droppedAttributesCount: 0,
        },
        scopes: [{ scope, items: items.map((item, index) => itemOf[signal](item, index)), schemaUrl: '' }],
        schemaUrl: '',
      },
    ],
  } as unknown as OtlpRequest<typeof signal>
  return Buffer.from(encodeRequest(signal, request, encoding))
}

/** Returns the names (see `Telemetry.items`) in a request, in order. */
export function itemsIn(body: Uint8Array, encoding: Encoding, signal: Signal = 'traces'): string[] {
  const items = decodeRequest(signal, body, encoding).resources.flatMap(({ scopes }) =>
    scopes.flatMap((group) => group.items as readonly { name?: string; body?: { value: unknown } }[]),
  )
  return items.map(({ name, body: text }) => name ?? String(text?.value))
}

/** Returns the attributes of each resource in a request. */
export function resourcesIn(
  body: Uint8Array,
  encoding: Encoding,
  signal: Signal = 'traces',
): Record<string, unknown>[] {
  return decodeRequest(signal, body, encoding).resources.map(({ resource }) =>
    Object.fromEntries((resource?.attributes ?? []).map(({ key, value }: KeyValue) => [key, value])),
  )
}
