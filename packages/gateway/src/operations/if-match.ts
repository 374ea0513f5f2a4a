import { ApiError } from './api-error.ts'

/** Throws `precondition_failed` if the value of the header `If-Match` does not name the current version. */
export function requireIfMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined) return
  const named = ifMatch.split(',').map((part) => part.trim())
  if (named.includes('*') || named.includes(etag)) return
  throw new ApiError(
    'precondition_failed',
    'The version in If-Match is not the current one: read it again before changing it.',
    { current: etag },
  )
}
