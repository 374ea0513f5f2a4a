/** However long the other side wants us to stay away, we look again after this. */
export const MAX_RETRY_AFTER_MS = 60 * 60 * 1000

const wholeSeconds = /^\d+$/
/** The three forms of an HTTP-date. Only the last one leaves out the zone, which is GMT. */
const dateForms = [
  { form: /^[a-z]{3}, \d{2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/i, zone: '' },
  { form: /^[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/i, zone: '' },
  { form: /^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i, zone: ' GMT' },
]

/**
 * The wait a `Retry-After` header asks for, at most `MAX_RETRY_AFTER_MS`; 0 when there is none, when it lies in the
 * past, or when it is neither whole seconds nor an HTTP-date.
 *
 * @see RFC 9110 sections 10.2.3 and 5.6.7
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  const text = header?.trim() ?? ''
  const waitMs = wholeSeconds.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs
  return waitMs > 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : 0
}

/** NaN when it is no date. */
function dateMs(text: string): number {
  const known = dateForms.find(({ form }) => form.test(text))
  return known ? Date.parse(text + known.zone) : Number.NaN
}
