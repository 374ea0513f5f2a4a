import { type Html, html } from '@penstock/http'

/** The path of the start page. */
export const START_PATH = '/'

export const hiddenFields = (fields: readonly { readonly name: string; readonly value: string }[]): Html[] =>
  fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">\n`)

/** Returns the fields that occur once and are text that the databases can store. Other fields are ignored. */
export function fieldsOf(body: unknown): Readonly<Partial<Record<string, string>>> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const valid = Object.entries(isObject ? body : {}).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && entry[1].isWellFormed() && !entry[1].includes('\0'),
  )
  return Object.fromEntries(valid)
}

/**
 * Returns `returnTo` if it is a path, and the start page otherwise. It is appended to the external URL, and text that does
 * not begin with a slash could change the host.
 */
export function localPath(returnTo: unknown): string {
  // URLs and headers have only printable ASCII; everything else must be encoded.
  return typeof returnTo === 'string' && /^\/[\x21-\x7e]*$/.test(returnTo) ? returnTo : START_PATH
}
