import { ApiError } from '../api-error.ts'

/** Throws `precondition_failed` when the header `If-Match`, as it came, names other versions only. */
export function requireIfMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined) return
  const named = ifMatch.split(',').map((part) => part.trim())
  if (named.includes('*') || named.includes(etag)) return
  throw new ApiError('precondition_failed', 'It has been changed in the meantime.', { current: etag })
}
