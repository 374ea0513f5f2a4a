import { encodeRequest, type OtlpRequest, SpanKind, StatusCode } from '@penstock/otlp'

/** Returns a protobuf trace request of about `bytes` bytes, as an SDK with usual attributes sends it. */
export function traceBody(bytes: number): Uint8Array {
  let spans = 1
  let body = encoded(spans)
  while (body.length < bytes) {
    spans += Math.max(1, Math.floor(((bytes - body.length) / body.length) * spans * 0.5))
    body = encoded(spans)
  }
  return body
}

function encoded(count: number): Uint8Array {
  const spans = Array.from({ length: count }, (_, index) => ({
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: (0xeee19b7ec3c1b174n + BigInt(index)).toString(16).padStart(16, '0'),
    traceState: '',
    parentSpanId: index === 0 ? '' : 'eee19b7ec3c1b174',
    flags: 1,
    name: `GET /api/items/${index}`,
    kind: SpanKind.SERVER,
    startTimeUnixNano: 1_789_000_000_000_000_000n + BigInt(index) * 1_000_000n,
    endTimeUnixNano: 1_789_000_000_250_000_000n + BigInt(index) * 1_000_000n,
    attributes: [
      { key: 'http.request.method', type: 'string', value: 'GET' },
      { key: 'url.path', type: 'string', value: `/api/items/${index}` },
      { key: 'http.response.status_code', type: 'int', value: 200n },
      { key: 'server.address', type: 'string', value: 'items.internal.example' },
      { key: 'network.protocol.version', type: 'string', value: '1.1' },
    ],
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: { message: '', code: StatusCode.UNSET },
  }))
  const request = {
    resources: [
      {
        resource: {
          attributes: [
            { key: 'service.name', type: 'string', value: 'items' },
            { key: 'service.version', type: 'string', value: '1.4.2' },
            { key: 'telemetry.sdk.language', type: 'string', value: 'nodejs' },
          ],
          droppedAttributesCount: 0,
        },
        scopes: [
          {
            scope: { name: '@example/http', version: '1.0.0', attributes: [], droppedAttributesCount: 0 },
            items: spans,
            schemaUrl: '',
          },
        ],
        schemaUrl: '',
      },
    ],
  } as unknown as OtlpRequest<'traces'>
  return encodeRequest('traces', request, 'protobuf')
}
