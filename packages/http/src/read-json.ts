import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { type JsonLimits, JsonScanner } from '@penstock/json'
import { RequestProblem } from './request-problem.ts'

/** Limits that are enough for ordinary API requests; a route that takes thousands of items needs limits of its own. */
export const defaultJsonLimits: JsonLimits = { containers: 10_000, values: 20_000, depth: 64 }

/** The limits on a JSON body. */
export interface JsonBodyLimits {
  readonly limitBytes: number
  readonly jsonLimits: JsonLimits
}

/** The client broke off; nobody is left to be told anything. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * Returns the JSON value of a body within `limits`, or `undefined` if it is empty and not `needed`.
 *
 * A body that is too large is read only until that shows; Node discards the rest after the answer. The limits on JSON
 * are checked on its bytes as they arrive, because they protect from the cost of parsing.
 *
 * @throws RequestProblem: unsupported_media_type, then body_too_large or json_beyond_limit, then invalid_json;
 *   ClientGone
 */
export async function readJson(request: IncomingMessage, limits: JsonBodyLimits, needed: boolean): Promise<unknown> {
  if (!needed && isWithoutBody(request)) return undefined
  requireJson(request)
  return parseInTurn(await readJsonBytes(request, limits))
}

export function isWithoutBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/** @throws RequestProblem unsupported_media_type for a body that is compressed */
export function requireIdentity({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (coding !== 'identity') {
    throw new RequestProblem(
      { kind: 'unsupported_media_type', contentEncoding: coding },
      { 'Accept-Encoding': 'identity' },
    )
  }
}

function requireJson(request: IncomingMessage): void {
  requireIdentity(request)
  const { headers } = request
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const charsets = parameters.map((text) => /^\s*charset\s*=\s*"?([^"]*?)"?\s*$/.exec(text)?.[1] ?? 'utf-8')
  if (type.trim() !== 'application/json' || charsets.some((charset) => charset !== 'utf-8' && charset !== 'utf8')) {
    throw new RequestProblem({ kind: 'unsupported_media_type' }, { Accept: 'application/json' })
  }
}

/**
 * Reads a JSON body without parsing it.
 * @throws RequestProblem body_too_large, json_beyond_limit; ClientGone
 */
export function readJsonBytes(request: IncomingMessage, { limitBytes, jsonLimits }: JsonBodyLimits): Promise<Buffer> {
  return readBytes(request, limitBytes, jsonGuard(jsonLimits))
}

/** Returns a check for the chunks of one JSON body. It throws RequestProblem json_beyond_limit when a limit is exceeded. */
function jsonGuard(limits: JsonLimits): (chunk: Uint8Array) => void {
  const scanner = new JsonScanner(limits)
  return (chunk) => {
    const limit = scanner.write(chunk)
    if (limit !== undefined) throw new RequestProblem({ kind: 'json_beyond_limit', limit, most: limits[limit] })
  }
}

/**
 * Reads a body of at most `limitBytes`.
 *
 * @param take called with each chunk before it is kept; an error that it throws ends the reading
 * @throws RequestProblem body_too_large; ClientGone; errors of `take`
 */
export function readBytes(
  request: IncomingMessage,
  limitBytes: number,
  take: (chunk: Buffer) => void = () => {},
): Promise<Buffer> {
  const tooLarge = () => new RequestProblem({ kind: 'body_too_large', limitBytes })
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] | undefined = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      if (chunks === undefined) return
      bytes += chunk.length
      try {
        if (bytes > limitBytes) throw tooLarge()
        take(chunk)
        chunks.push(chunk)
      } catch (error) {
        chunks = undefined
        reject(error)
      }
    })
    request.on('end', () => resolve(Buffer.concat(chunks ?? [])))
    request.on('error', () => reject(new ClientGone()))
    request.on('close', () => reject(new ClientGone()))
  })
}

/** The length from which a text is parsed in a turn of its own; parsing it takes milliseconds. */
const OWN_TURN_BYTES = 64 * 1024

/**
 * Returns the value of a JSON text. A large one is parsed in a separate turn of the event loop, because the rest of a
 * request also takes time in proportion to it.
 *
 * @throws RequestProblem invalid_json
 */
export async function parseInTurn(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length <= OWN_TURN_BYTES) return parseJson(bytes).value
  await setImmediate()
  const { value } = parseJson(bytes)
  await setImmediate()
  return value
}

/**
 * Returns the value of a JSON text, and the text.
 *
 * @throws RequestProblem invalid_json
 */
export function parseJson(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    // The parser's message quotes the body.
    throw new RequestProblem({ kind: 'invalid_json' })
  }
}
