import type { IncomingMessage } from 'node:http'
import {
  isWithoutBody,
  type JsonBodyLimits,
  parseJsonYielding,
  readBytes,
  readJsonBytes,
  requireUncompressed,
} from './read-json.ts'
import { type FormEntry, multipartEntries } from './read-multipart.ts'
import { RequestProblem } from './request-problem.ts'
import { streamMultipart } from './stream-multipart.ts'
import type { UploadSpace } from './upload-space.ts'
import { urlEncodedEntries, utf8Text } from './urlencoded.ts'

/** The rules for the bodies of one route, which may be JSON or forms. */
export interface FormRules extends Partial<JsonBodyLimits> {
  /** The maximum size of each file; files are held in memory. Default: 1 MiB. */
  readonly fileLimitBytes?: number
  /** Set if files are written to the disk while they arrive, for a higher limit. Only routes with it get a `StoredFile`. */
  readonly filesOnDisk?: true
  /** Set if the route accepts only JSON and parses the bytes itself. */
  readonly keepsBytes?: true
}

const DEFAULT_FILE_LIMIT_BYTES = 1024 * 1024

export interface Body {
  readonly body: unknown
  readonly form?: readonly FormEntry[]
  /** The unparsed JSON, if the route has `keepsBytes`. It is within the limits on JSON, but may be malformed. */
  readonly bytes?: Buffer
  /** Removes the files of the form that were not moved. To be called after the request has been handled. */
  readonly dispose?: () => Promise<void>
}

/**
 * Reads a body of type application/json, application/x-www-form-urlencoded or multipart/form-data. An empty body of any
 * type is treated as a missing body. A body without a type is read as a form. A route with `keepsBytes` accepts only JSON.
 *
 * @param limits the application's limits, used if `rules` has none; the size limit of a form does not include its files
 * @throws RequestProblem: unsupported_media_type, then body_too_large or json_beyond_limit, then invalid_json;
 *   MalformedForm; TooManyUploads; ClientGone
 */
export async function readBody(
  request: IncomingMessage,
  limits: JsonBodyLimits,
  rules: FormRules,
  uploads?: UploadSpace,
): Promise<Body> {
  if (isWithoutBody(request)) return { body: undefined }
  const { 'content-type': contentType = '' } = request.headers
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  requireUncompressed(request)
  const { limitBytes, jsonLimits }: JsonBodyLimits = { ...limits, ...rules }
  if (rules.keepsBytes && type !== 'application/json') {
    throw new RequestProblem({ kind: 'unsupported_media_type' }, { Accept: 'application/json' })
  }
  switch (type) {
    case 'application/json': {
      const bytes = await readJsonBytes(request, { limitBytes, jsonLimits })
      if (bytes.length === 0) return { body: undefined }
      return rules.keepsBytes ? { body: undefined, bytes } : { body: await parseJsonYielding(bytes) }
    }
    case '':
    case 'application/x-www-form-urlencoded':
      return formBody(urlEncodedEntries(utf8Text(await readBytes(request, limitBytes))))
    case 'multipart/form-data': {
      const { fileLimitBytes = DEFAULT_FILE_LIMIT_BYTES } = rules
      if (rules.filesOnDisk && uploads) {
        const { entries, dispose } = await streamMultipart(
          request,
          contentType,
          { limitBytes, fileLimitBytes },
          uploads,
        )
        return { ...formBody(entries), dispose }
      }
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

const formBody = (entries: readonly FormEntry[]): Body => ({ body: groupByName(entries), form: entries })

/** Groups entries by name. A name that occurs more than once gets a list of its values. */
export function groupByName<Value extends string | object>(
  entries: readonly (readonly [string, Value])[],
): Readonly<Record<string, Value | readonly Value[]>> {
  const values = new Map<string, Value | Value[]>()
  for (const [name, value] of entries) {
    const before = values.get(name)
    if (before === undefined) values.set(name, value)
    else if (Array.isArray(before)) before.push(value)
    else values.set(name, [before, value])
  }
  // Object.fromEntries treats a parameter named __proto__ like any other.
  return Object.fromEntries(values)
}
