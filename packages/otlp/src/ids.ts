const traceId = /^[0-9a-f]{32}$/i
const spanId = /^[0-9a-f]{16}$/i
const zeros = /^0+$/

/** 32 hex digits, not all of them zero: what the OTLP specification calls a valid trace id. */
export function isTraceId(text: string): boolean {
  return traceId.test(text) && !zeros.test(text)
}

/** 16 hex digits, not all of them zero. */
export function isSpanId(text: string): boolean {
  return spanId.test(text) && !zeros.test(text)
}
