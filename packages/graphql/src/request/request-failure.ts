import { DomainError } from '@penstock/core'

/**
 * The message for a field if the caller has performed its operation too often, and for a request that is rejected with
 * 429.
 */
export const TOO_OFTEN = 'This endpoint has been requested too many times. Try again later.'

/** Returns whether an error fails the whole request, regardless of the field in which it occurred. */
export const failsRequest = (error: unknown): boolean =>
  error instanceof DomainError && error.failure.code === 'unavailable'
