import type { Encoding } from '@penstock/otlp'
import type { Credential } from './credential.ts'
import type { FlatHeaders } from './export-call.ts'

/** The result of reading the headers of a request in one pass. */
export interface RequestHead {
  /** The headers to be forwarded, as in `ExportCall`. */
  readonly forwarded: FlatHeaders
  readonly credential: Credential
  /** `undefined` if there is no content type, an unsupported one or more than one. */
  readonly encoding: Encoding | undefined
  /** The lower-case content encoding; '' for identity. */
  readonly contentEncoding: string
  /** The value of Content-Length; `undefined` without one. */
  readonly declaredBytes: number | undefined
  readonly expectsContinue: boolean
  /** The number of `Host` headers, plus one if `:authority` differs. */
  readonly hosts: number
  /** The lower-case transfer codings in the order in which they were applied; '' without any. */
  readonly transferCodings: string
  readonly origin: string | undefined
  /** The request id as the client sent it. */
  readonly requestId: string | undefined
  readonly userAgent: string | undefined
}
