import { ApiError } from '../api-error.ts'

/** Where a page ended; opaque to the client, which only hands it back. */
export const toCursor = (position: number): string => Buffer.from(String(position)).toString('base64url')

/** Throws `invalid_cursor` for anything that {@link toCursor} does not make. */
export function fromCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const position = Number(text)
  if (!/^[1-9]\d{0,14}$/.test(text) || toCursor(position) !== cursor) {
    throw new ApiError('invalid_cursor', 'The cursor is not one of a previous page.')
  }
  return position
}
