import type { HttpReply, NetworkFailure } from './http-client.ts'
import { retryAfterMs } from './retry-after.ts'

/** What one attempt came to. Reasons and messages are fit to be shown: one line, no secrets. */
export type Outcome = Delivered | Retry | Dead

interface Origin {
  /** The receiver had no part in it, so that nothing is known about it: what else goes to it need not wait, nor follow. */
  readonly isLocal?: true
}

export interface Delivered extends Origin {
  readonly kind: 'delivered'
  /** Items the receiver refused while it took the rest; it must not be sent them again. */
  readonly rejectedItems: number
  /** What the receiver had to say about it; '' when nothing. */
  readonly message: string
}

export interface Retry extends Origin {
  readonly kind: 'retry'
  /** The wait the receiver asked for, 0 when it did not. */
  readonly retryAfterMs: number
  readonly reason: string
}

export interface Dead extends Origin {
  readonly kind: 'dead'
  readonly reason: string
  /** The credential was refused (401, 403): whatever else is sent with it will be refused too. */
  readonly authentication: boolean
}

/** The only refusals that OTLP lets a client try again. @see OTLP specification, "Failures", retryable codes */
const kindByStatus: Readonly<Record<number, Outcome['kind']>> = {
  429: 'retry',
  502: 'retry',
  503: 'retry',
  504: 'retry',
}

/** By the first digit. 3xx is dead because following it would hand data and credential to an address nobody chose. */
const kindByClass: Readonly<Record<number, Outcome['kind']>> = { 2: 'delivered', 3: 'dead', 4: 'dead', 5: 'dead' }

export function kindOfStatus(status: number): Outcome['kind'] {
  return kindByStatus[status] ?? kindByClass[Math.trunc(status / 100)] ?? 'dead'
}

const isAuthenticationRefusal = (status: number): boolean => status === 401 || status === 403

/** `detail` is what the caller has read out of the body. */
export function outcomeOfReply(
  reply: Pick<HttpReply, 'status' | 'headers'>,
  detail: { readonly rejectedItems: number; readonly message: string },
  nowMs: number,
): Outcome {
  const reason = detail.message
  switch (kindOfStatus(reply.status)) {
    case 'delivered':
      return { kind: 'delivered', ...detail }
    case 'retry':
      return { kind: 'retry', retryAfterMs: retryAfterMs(reply.headers['retry-after'], nowMs), reason }
    case 'dead':
      return { kind: 'dead', reason, authentication: isAuthenticationRefusal(reply.status) }
  }
}

/** Nothing is known about what the other side did, so it is worth another attempt; unless it was us who refused. */
export function outcomeOfFailure(failure: NetworkFailure): Outcome {
  const { code, reason } = failure
  if (code === 'PENSTOCK_BLOCKED') return { kind: 'dead', reason, authentication: false, isLocal: true }
  return { kind: 'retry', retryAfterMs: 0, reason }
}
