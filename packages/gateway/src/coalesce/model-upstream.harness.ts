import { gunzipSync } from 'node:zlib'
import { encodeRequest, type OtlpRequest, type ResourceGroup, type Span } from '@penstock/otlp'
import protobuf from 'protobufjs'
import type { Answer, Refused } from '../contract/answer.ts'
import { type ExportCall, noHeaders } from '../contract/export-call.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { Upstream, UpstreamRequest } from '../contract/upstream.ts'

const requestType = protobuf
  .parse(`
    syntax = "proto3";
    message Request { repeated ResourceSpans resource_spans = 1; }
    message ResourceSpans { repeated ScopeSpans scope_spans = 2; }
    message ScopeSpans { repeated Span spans = 2; }
    message Span { string name = 5; }
  `)
  .root.lookupType('Request')

interface Decoded {
  readonly resourceSpans?: { readonly scopeSpans?: { readonly spans?: { readonly name?: string }[] }[] }[]
}

/**
 * Returns the span names that protobufjs finds; it skips unknown fields and groups. Throws if the body is malformed.
 */
export function spanNames(body: Uint8Array): string[] {
  const decoded = requestType.toObject(requestType.decode(body)) as Decoded
  const scopes = (decoded.resourceSpans ?? []).flatMap(({ scopeSpans = [] }) => scopeSpans)
  return scopes.flatMap(({ spans = [] }) => spans.map(({ name = '' }) => name))
}

export function refusal(cause: Refused['cause'], httpStatus: number, retryAfter?: number): Refused {
  return { kind: 'refused', cause, httpStatus, grpcCode: 0, message: `${httpStatus}`, retryAfter, status: undefined }
}

export interface Pending {
  readonly request: UpstreamRequest
  answer(answer: Answer): void
  /** Answers like an upstream that refuses only malformed bodies. */
  answerByContent(): void
}

/** An upstream that answers when the test tells it to, and records what it has accepted. */
export class ModelUpstream implements Upstream {
  readonly name = 'model'
  readonly bodyLimitBytes: number
  readonly requests: UpstreamRequest[] = []
  pending: Pending[] = []
  /** The names of the accepted spans. */
  readonly accepted: string[] = []
  aborted = 0

  constructor(bodyLimitBytes = 20 * 1024 * 1024) {
    this.bodyLimitBytes = bodyLimitBytes
  }

  send(request: UpstreamRequest): Promise<Answer> {
    this.requests.push(request)
    return new Promise((resolve) => {
      const pending: Pending = {
        request,
        answer: (answer) => {
          this.pending = this.pending.filter((other) => other !== pending)
          resolve(answer)
        },
        answerByContent: () => {
          const names = this.read(request)
          if (names !== undefined) this.accepted.push(...names)
          pending.answer(verdict(names))
        },
      }
      this.pending.push(pending)
      request.onAbortable?.(() => {
        this.aborted += 1
        pending.answer(refusal('unknown', 502))
      })
    })
  }

  /** Returns the span names of a request; `undefined` if its body is malformed. */
  read({ body, contentEncoding }: Pick<UpstreamRequest, 'body' | 'contentEncoding'>): string[] | undefined {
    try {
      const bytes = body as Uint8Array
      return spanNames(contentEncoding === 'gzip' ? gunzipSync(bytes) : bytes)
    } catch {
      return undefined
    }
  }

  async close(): Promise<void> {}
}

export const accepted: Answer = { kind: 'accepted', partialSuccess: undefined, body: undefined }

export function verdict(names: readonly string[] | undefined): Answer {
  return names === undefined ? refusal('rejected', 400) : accepted
}

export const token = (id: string, tenant?: string) => tokenRecord({ id, name: id, tenant })

export function exportCall(changes: Partial<ExportCall> & { readonly owner?: TokenRecord } = {}): ExportCall {
  const { owner = token('a'), ...fields } = changes
  return {
    transport: 'http',
    signal: 'traces',
    encoding: 'protobuf',
    contentEncoding: '',
    headers: ['user-agent', 'sdk/1'],
    declaredBytes: 10,
    deadlineMs: undefined,
    admitted: {
      admitted: true,
      token: owner,
      auth: 'verified',
      wouldReject: undefined,
      warning: undefined,
      expiresAt: undefined,
      sample: undefined,
    },
    onClientGone: undefined,
    reservedBytes: 0,
    arriving: undefined,
    sentAtMs: undefined,
    trusted: noHeaders,
    ...fields,
  }
}

const bareSpan: Span = {
  traceId: '',
  spanId: '',
  traceState: '',
  parentSpanId: '',
  flags: 0,
  name: '',
  kind: 0,
  startTimeUnixNano: 0n,
  endTimeUnixNano: 0n,
  attributes: [],
  droppedAttributesCount: 0,
  events: [],
  droppedEventsCount: 0,
  links: [],
  droppedLinksCount: 0,
  status: undefined,
}

/** Returns a body with one record per list of names, and one span per name. */
export function traceBody(...records: readonly (readonly string[])[]): Uint8Array {
  const resources = records.map(
    (names): ResourceGroup<Span> => ({
      resource: { attributes: [], droppedAttributesCount: 0 },
      scopes: [
        {
          scope: { name: '', version: '', attributes: [], droppedAttributesCount: 0 },
          items: names.map((name) => ({ ...bareSpan, name })),
          schemaUrl: '',
        },
      ],
      schemaUrl: '',
    }),
  )
  return encodeRequest('traces', { resources } as OtlpRequest<'traces'>, 'protobuf')
}
