/**
 * The reasons why a run is given up: the token is missing, refused (401) or may not read the run (403); the run is gone (404); the forge
 * refuses the request otherwise; the answers are too large, or no run of this forge; the run has not ended according to the forge; the
 * time is over.
 */
export const fetchFailures = [
  'no_token',
  'unauthorized',
  'forbidden',
  'not_found',
  'refused',
  'too_large',
  'unreadable',
  'unfinished',
  'expired',
] as const
export type FetchFailure = (typeof fetchFailures)[number]

export const fetchOutcomes = ['read', ...fetchFailures] as const
export const fetchAttemptOutcomes = ['read', 'retry', 'failed'] as const
