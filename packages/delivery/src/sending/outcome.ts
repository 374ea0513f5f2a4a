import type { HttpReply, NetworkFailure } from './http-client.ts'
import { retryAfterMs } from './retry-after.ts'

/** The result of one attempt. Reasons and messages can be shown: each is one line without secrets. */
export type Outcome = Delivered | Retry | Dead

interface Origin {
  /**
   * Set if the receiver had no part in the result, so that it says nothing about the receiver
   * or about other deliveries to it.
   */
  readonly isLocal?: true
}

export interface Delivered extends Origin {
  readonly kind: 'delivered'
  /** The number of items that the receiver rejected while it accepted the rest; they must not be sent again. */
  readonly rejectedItems: number
  /** The receiver's message about the delivery; '' if there is none. */
  readonly message: string
}

export interface Retry extends Origin {
  readonly kind: 'retry'
  /** The wait that the receiver asked for, else 0. */
  readonly retryAfterMs: number
  readonly reason: string
}

export interface Dead extends Origin {
  readonly kind: 'dead'
  readonly reason: string
  /** Whether the credential was refused (401, 403), so that everything sent with it will be refused. */
  readonly authentication: boolean
}

/** The only error statuses that OTLP allows a client to retry. @see OTLP specification, "Failures", retryable codes */
const kindByStatus: Readonly<Record<number, Outcome['kind']>> = {
  429: 'retry',
  502: 'retry',
  503: 'retry',
  504: 'retry',
}

/**
 * The outcome by first digit. 3xx is dead because following a redirect would send data and credential to an
 * address that the user did not choose.
 */
const kindByClass: Readonly<Record<number, Outcome['kind']>> = { 2: 'delivered', 3: 'dead', 4: 'dead', 5: 'dead' }

export function toOutcomeKind(status: number): Outcome['kind'] {
  return kindByStatus[status] ?? kindByClass[Math.trunc(status / 100)] ?? 'dead'
}

const isAuthenticationRefusal = (status: number): boolean => status === 401 || status === 403

/** Returns the outcome of a reply. `detail` is what the caller has read from the body. */
export function outcomeFromReply(
  reply: Pick<HttpReply, 'status' | 'headers'>,
  detail: { readonly rejectedItems: number; readonly message: string },
  nowMs: number,
): Outcome {
  const reason = detail.message
  switch (toOutcomeKind(reply.status)) {
    case 'delivered':
      return { kind: 'delivered', ...detail }
    case 'retry':
      return { kind: 'retry', retryAfterMs: retryAfterMs(reply.headers['retry-after'], nowMs), reason }
    case 'dead':
      return { kind: 'dead', reason, authentication: isAuthenticationRefusal(reply.status) }
  }
}

/**
 * Returns the outcome of a network failure: a retry, because the receiver may not have acted on it; dead if
 * the address policy blocked it.
 */
export function outcomeFromFailure(failure: NetworkFailure): Outcome {
  const { code, reason } = failure
  if (code === 'PENSTOCK_BLOCKED') return { kind: 'dead', reason, authentication: false, isLocal: true }
  return { kind: 'retry', retryAfterMs: 0, reason }
}
