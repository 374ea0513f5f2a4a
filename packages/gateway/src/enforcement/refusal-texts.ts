import type { Reason } from '../contract/admission.ts'
import type { RefusalKind } from '../contract/refusals.ts'

export interface RefusalText {
  readonly kind: Extract<RefusalKind, 'unauthenticated' | 'forbidden'>
  /** The text for a client that has not shown the right secret, or that may not learn more. */
  readonly message: string
  /** The end of a sentence that names the token, for a client that has shown its secret (T-8). */
  readonly tokenSuffix: string | undefined
  /** The `error` of the challenge (RFC 6750 section 3.1). `undefined`: a challenge without `error`; 'none': no challenge. */
  readonly error: 'invalid_token' | 'invalid_request' | 'insufficient_scope' | 'none' | undefined
}

const NOT_VALID = 'The ingest token is not valid.'

/**
 * The texts for clients, by reason. Unknown ids and wrong secrets share one text, so that a client without a secret cannot
 * find out which ids exist (P-12, T-8).
 */
export const refusalTexts: Readonly<Record<Reason, RefusalText>> = {
  missing: {
    kind: 'unauthenticated',
    message: 'No ingest token. Send one in the header "Authorization: Bearer <token>".',
    tokenSuffix: undefined,
    error: undefined,
  },
  // For a known token, `malformed` means that it was sent in a query that it may not be sent in (T-9).
  malformed: {
    kind: 'unauthenticated',
    message: NOT_VALID,
    tokenSuffix: 'may not be sent in the query of a URL; send it in the header Authorization.',
    error: 'invalid_token',
  },
  unknown: { kind: 'unauthenticated', message: NOT_VALID, tokenSuffix: undefined, error: 'invalid_token' },
  bad_secret: { kind: 'unauthenticated', message: NOT_VALID, tokenSuffix: undefined, error: 'invalid_token' },
  expired: { kind: 'unauthenticated', message: NOT_VALID, tokenSuffix: 'has expired.', error: 'invalid_token' },
  revoked: { kind: 'unauthenticated', message: NOT_VALID, tokenSuffix: 'has been revoked.', error: 'invalid_token' },
  disabled: { kind: 'unauthenticated', message: NOT_VALID, tokenSuffix: 'is disabled.', error: 'invalid_token' },
  signal: {
    kind: 'forbidden',
    message: 'The ingest token may not be used for this signal.',
    tokenSuffix: 'may not be used for this signal.',
    error: 'insufficient_scope',
  },
  origin: {
    kind: 'forbidden',
    message: 'The ingest token may not be used from this origin.',
    tokenSuffix: 'may not be used from this origin.',
    error: 'none',
  },
  certificate: {
    kind: 'forbidden',
    message: 'The ingest token may not be used with this client certificate.',
    tokenSuffix: 'may not be used with this client certificate.',
    error: 'none',
  },
}

/** The text if no token could be read: two credentials, another scheme, or a header that is too long (P-12, T-9). */
export const malformedCredential: RefusalText = {
  kind: 'unauthenticated',
  message: 'The credential cannot be read. Send exactly one header "Authorization: Bearer <token>".',
  tokenSuffix: undefined,
  error: 'invalid_request',
}
