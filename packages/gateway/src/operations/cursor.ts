import { ApiError } from './api-error.ts'

/** Returns the opaque text that marks where a page ended. The client only sends it back. */
export const toCursor = (position: number): string => Buffer.from(String(position)).toString('base64url')

/** Returns the position in a cursor. Throws `invalid_cursor` for a text that {@link toCursor} does not generate. */
export function fromCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const position = Number(text)
  if (!/^[1-9]\d{0,14}$/.test(text) || toCursor(position) !== cursor) {
    throw new ApiError('invalid_cursor', 'The cursor does not come from a previous page.')
  }
  return position
}
