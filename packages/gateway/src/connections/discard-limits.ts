/**
 * The limits for reading and discarding the rest of a body after its request has been answered (P-11). A client that is
 * cut off while it sends does not see the answer, takes this for a network error and sends the same body again.
 */
export const DISCARD_MS = 10_000
export const DISCARD_BYTES = 64 * 1024 * 1024
/** The time for the client of an HTTP/2 stream to accept the whole answer. Without a window it could hold the answer forever. */
export const UNSENT_MS = 30_000
