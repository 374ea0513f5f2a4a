import type { Json } from './payloads/shared-objects.ts'

/** The error for a template with a result that cannot be sent. The message is shown to those who manage the hook. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'

  constructor(reason: string) {
    super(`Error while parsing rendered custom webhook template: ${reason}`)
  }
}

/** The largest result. A template can name a long member many times. */
const MAX_RENDERED = 25 * 1024 * 1024

/**
 * Replaces each `{{path.to.member}}` of a template with a member of the payload, and returns the result as compact JSON. Texts
 * are inserted without quotes, so that a template can join them; a missing member is `null`.
 *
 * @throws TemplateError if the result is not valid JSON or too large, or a path leads into an array
 */
export function renderTemplate(template: string, payload: Json): string {
  let length = template.length
  const rendered = template.replaceAll(/\{\{(.+?)\}\}/g, (_, path: string) => {
    const inserted = insertedText(memberAt(payload, path))
    length += inserted.length
    if (length > MAX_RENDERED) throw new TemplateError('The result is too large')
    return inserted
  })
  try {
    return JSON.stringify(JSON.parse(rendered))
  } catch (error) {
    throw new TemplateError((error as Error).message)
  }
}

function memberAt(payload: Json, path: string): unknown {
  let value: unknown = payload
  for (const key of path.split('.')) {
    if (Array.isArray(value)) {
      throw new TemplateError('You may be trying to access an array value, which is not supported.')
    }
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
    value = (value as Json)[key]
  }
  return value
}

const insertedText = (value: unknown): string => {
  const json = JSON.stringify(value ?? null)
  return typeof value === 'string' ? json.slice(1, -1) : json
}
