const traceId = /^[0-9a-f]{32}$/
const spanId = /^[0-9a-f]{16}$/
const zeros = /^0+$/

/** Returns whether a text is a valid trace id: 32 lower-case hex digits, not all zero. */
export function isTraceId(text: string): boolean {
  return traceId.test(text) && !zeros.test(text)
}

/** Returns whether a text is a valid span id: 16 lower-case hex digits, not all zero. */
export function isSpanId(text: string): boolean {
  return spanId.test(text) && !zeros.test(text)
}
