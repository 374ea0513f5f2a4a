import type { IncomingHttpHeaders } from 'node:http'

/** The size limit of a form. It is decoded at once, while other requests wait. */
export const MAX_FORM_BYTES = 5 * 1024 * 1024

/** Returns whether a request has a form instead of JSON. */
export const isForm = ({ 'content-type': type = '' }: IncomingHttpHeaders): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)

/** Returns the JSON in the field `payload` of a form; nothing if it has no such field. */
export const formPayload = (form: Buffer): Buffer =>
  Buffer.from(new URLSearchParams(form.toString('latin1')).get('payload') ?? '')
