import { join } from 'node:path'
import { decodeRequest, type OtlpRequest, type Span } from '@penstock/otlp'
import { freePort } from '../collector/free-port.ts'
import { type Backend, startBackend } from './backend.ts'
import { decodedUiTrace, type UiTrace } from './jaeger-ui.ts'

const config = join(import.meta.dirname, '../../collector-config/jaeger-server.yaml')

/** The storages of collector-config/jaeger-server.yaml. */
export type JaegerStorage = 'memory' | 'disk'

export interface Jaeger extends Backend {
  /** The base URL of its OTLP/HTTP receiver. */
  readonly otlpUrl: string
  readonly queryUrl: string
  /** Returns a trace from `/api/v3`, as it is stored, with warnings as a field `warnings` of its spans. */
  trace(traceId: string): Promise<OtlpRequest<'traces'>>
  /** Returns a trace as the user interface and Grafana read it, translated back to OTLP. */
  shownTrace(traceId: string): Promise<OtlpRequest<'traces'>>
  /** Returns the traces that `/api/traces` finds, which Grafana uses for searches. */
  search(parameters: Readonly<Record<string, string>>): Promise<UiTrace[]>
}

/** A span with the warnings that Jaeger has added to it. */
type WarnedSpan = Span & { readonly warnings?: readonly unknown[] }

/** The attribute that has the warnings. */
const warningsKey = '@jaeger@warnings'

function withWarningsApart({ resources }: OtlpRequest<'traces'>): OtlpRequest<'traces'> {
  const apart = (span: Span): WarnedSpan => {
    const warnings = span.attributes.find(({ key }) => key === warningsKey)
    if (warnings?.type !== 'array') return span
    return {
      ...span,
      attributes: span.attributes.filter((each) => each !== warnings),
      warnings: warnings.value.map(({ value }) => value),
    }
  }
  return {
    resources: resources.map((group) => ({
      ...group,
      scopes: group.scopes.map((scope) => ({ ...scope, items: scope.items.map(apart) })),
    })),
  }
}

/** Starts Jaeger with the published configuration. */
export async function startJaeger(storage: JaegerStorage): Promise<Jaeger> {
  const address = async () => `127.0.0.1:${await freePort()}`
  const [otlp, otlpGrpc, query, queryGrpc, health] = [
    await address(),
    await address(),
    await address(),
    await address(),
    await address(),
  ]
  const backend = await startBackend('jaeger', {
    args: () => ['--config', config],
    env: (directory) => ({
      JAEGER_STORAGE: storage,
      JAEGER_DIRECTORY: join(directory, 'data'),
      JAEGER_OTLP_HTTP_ENDPOINT: otlp,
      JAEGER_OTLP_GRPC_ENDPOINT: otlpGrpc,
      JAEGER_QUERY_ENDPOINT: query,
      JAEGER_QUERY_GRPC_ENDPOINT: queryGrpc,
      JAEGER_HEALTH_ENDPOINT: health,
    }),
    readyUrl: `http://${health}/status`,
  })
  const queryUrl = `http://${query}`

  async function answer(path: string): Promise<unknown> {
    const response = await fetch(queryUrl + path)
    const text = await response.text()
    if (!response.ok) throw new Error(`Jaeger answered ${path} with ${response.status}: ${text.slice(0, 300)}`)
    return JSON.parse(text)
  }
  const found = async (path: string) => ((await answer(path)) as { data: UiTrace[] }).data

  return {
    ...backend,
    otlpUrl: `http://${otlp}`,
    queryUrl,
    async trace(traceId) {
      const { result } = (await answer(`/api/v3/traces/${traceId}?raw_traces=true`)) as { result: object }
      return withWarningsApart(decodeRequest('traces', Buffer.from(JSON.stringify(result)), 'json'))
    },
    async shownTrace(traceId) {
      const [trace] = await found(`/api/traces/${traceId}`)
      return decodedUiTrace(trace!)
    },
    search: (parameters) => found(`/api/traces?${new URLSearchParams(parameters)}`),
  }
}
