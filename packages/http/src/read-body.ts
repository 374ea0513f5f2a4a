import type { IncomingMessage } from 'node:http'
import {
  isWithoutBody,
  type JsonBodyLimits,
  parseInTurn,
  readBytes,
  readJsonBytes,
  requireIdentity,
} from './read-json.ts'
import { type FormEntry, multipartEntries } from './read-multipart.ts'
import { RequestProblem } from './request-problem.ts'
import { urlEncodedEntries, utf8Text } from './urlencoded.ts'

/** The limits of one route's bodies, which may be JSON or forms. */
export interface FormRules extends Partial<JsonBodyLimits> {
  /** The highest number of bytes of each file; files are held in memory. Default: 1 MiB. */
  readonly fileLimitBytes?: number
  /** Set if only JSON is accepted and not parsed, because the route reads its bytes. */
  readonly keepsBytes?: true
}

const DEFAULT_FILE_LIMIT_BYTES = 1024 * 1024

export interface Body {
  readonly body: unknown
  readonly form?: readonly FormEntry[]
  /** The unparsed JSON, if the route keeps it. It is within the limits on JSON, and may be malformed. */
  readonly bytes?: Buffer
}

/**
 * Returns the body as JSON, application/x-www-form-urlencoded or multipart/form-data. An empty body counts as none,
 * whatever its type. A body without a type is read as a form, which is what `curl -d` sends. A route that keeps the
 * bytes accepts JSON only.
 *
 * @param limits the limits of the application, used where `rules` have none; for a form without its files
 * @throws RequestProblem: unsupported_media_type, then body_too_large or json_beyond_limit, then invalid_json;
 *   MalformedForm; ClientGone
 */
export async function readBody(request: IncomingMessage, limits: JsonBodyLimits, rules: FormRules): Promise<Body> {
  if (isWithoutBody(request)) return { body: undefined }
  const { 'content-type': contentType = '' } = request.headers
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  requireIdentity(request)
  const { limitBytes, jsonLimits }: JsonBodyLimits = { ...limits, ...rules }
  if (rules.keepsBytes && type !== 'application/json') {
    throw new RequestProblem({ kind: 'unsupported_media_type' }, { Accept: 'application/json' })
  }
  switch (type) {
    case 'application/json': {
      const bytes = await readJsonBytes(request, { limitBytes, jsonLimits })
      if (bytes.length === 0) return { body: undefined }
      return rules.keepsBytes ? { body: undefined, bytes } : { body: await parseInTurn(bytes) }
    }
    case '':
    case 'application/x-www-form-urlencoded':
      return formBody(urlEncodedEntries(utf8Text(await readBytes(request, limitBytes))))
    case 'multipart/form-data': {
      const { fileLimitBytes = DEFAULT_FILE_LIMIT_BYTES } = rules
      const bytes = await readBytes(request, limitBytes + fileLimitBytes)
      return formBody(bytes.length === 0 ? [] : await multipartEntries(bytes, contentType, fileLimitBytes))
    }
    default:
      if ((await readBytes(request, limitBytes)).length === 0) return { body: undefined }
      throw new RequestProblem(
        { kind: 'unsupported_media_type' },
        { Accept: 'application/json, application/x-www-form-urlencoded, multipart/form-data' },
      )
  }
}

const formBody = (entries: readonly FormEntry[]): Body => ({ body: byName(entries), form: entries })

/** A name that came more than once has all its values. */
export function byName<Value extends string | object>(
  entries: readonly (readonly [string, Value])[],
): Readonly<Record<string, Value | readonly Value[]>> {
  const values = new Map<string, Value | Value[]>()
  for (const [name, value] of entries) {
    const before = values.get(name)
    if (before === undefined) values.set(name, value)
    else if (Array.isArray(before)) before.push(value)
    else values.set(name, [before, value])
  }
  // From entries, so that a parameter named __proto__ is one like any other.
  return Object.fromEntries(values)
}
