const traceId = /^[0-9a-f]{32}$/
const spanId = /^[0-9a-f]{16}$/
const zeros = /^0+$/

/** 32 lower-case hex digits, not all of them zero: a valid trace id as the model spells it. */
export function isTraceId(text: string): boolean {
  return traceId.test(text) && !zeros.test(text)
}

/** 16 lower-case hex digits, not all of them zero. */
export function isSpanId(text: string): boolean {
  return spanId.test(text) && !zeros.test(text)
}
