/** The longest wait, whatever the receiver asks for. */
export const MAX_RETRY_AFTER_MS = 60 * 60 * 1000

const wholeSeconds = /^\d+$/
/** The three forms of an HTTP-date. Only the last one has no zone; it is GMT. */
const dateForms = [
  { form: /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i, zone: '' },
  { form: /^[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/i, zone: '' },
  { form: /^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i, zone: ' GMT' },
]

/**
 * Returns the wait that a `Retry-After` header asks for, at most `MAX_RETRY_AFTER_MS`; 0 if there is no header, if it is in
 * the past, or if it is neither whole seconds nor an HTTP-date.
 *
 * @see RFC 9110 sections 10.2.3 and 5.6.7
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  const text = header?.trim() ?? ''
  const waitMs = wholeSeconds.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs
  return waitMs > 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : 0
}

/** Returns NaN if the text is not an HTTP-date. */
function dateMs(text: string): number {
  const known = dateForms.find(({ form }) => form.test(text))
  return known ? Date.parse(text + known.zone) : Number.NaN
}
