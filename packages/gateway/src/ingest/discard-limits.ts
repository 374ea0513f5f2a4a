/**
 * The limits for reading and discarding the rest of a body after its request has been answered (P-11). A client that is
 * cut off while it sends does not see the answer, takes this for a network error and sends the same body again.
 */
export const DISCARD_MS = 10_000
export const DISCARD_BYTES = 64 * 1024 * 1024
