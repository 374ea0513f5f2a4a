/**
 * How long, and how much, a body is still read after its request has been answered. A client that is cut off while it
 * sends takes the answer for a network fault and sends the same again for ever.
 *
 * @see spec/otlp-gateway.md 1.1 P-11
 */
export const DISCARD_MS = 10_000
export const DISCARD_BYTES = 64 * 1024 * 1024
