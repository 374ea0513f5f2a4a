import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { type JsonLimits, JsonScanner, unlimitedJson } from '@penstock/json'
import { parseJsonInTurns } from './json-in-turns.ts'
import { RequestProblem } from './request-problem.ts'

/** The limits for ordinary API requests. A route that accepts thousands of items needs higher limits. */
export const defaultJsonLimits: JsonLimits = { ...unlimitedJson, containers: 10_000, values: 20_000, depth: 64 }

/** The limits on a JSON body. */
export interface JsonBodyLimits {
  readonly limitBytes: number
  readonly jsonLimits: JsonLimits
}

/** The error for a client that disconnected before its body was complete or its answer was built. No response can be sent. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * Returns the JSON value of a body within `limits`, or `undefined` if the body is missing and not `required`.
 *
 * Reading stops as soon as a body turns out to be too large; Node discards the rest after the response. The limits on
 * JSON are checked while the bytes arrive, because they protect from the cost of parsing.
 *
 * @throws RequestProblem: unsupported_media_type, then body_too_large or json_beyond_limit, then invalid_json;
 *   ClientGone
 */
export async function readJson(request: IncomingMessage, limits: JsonBodyLimits, required: boolean): Promise<unknown> {
  if (!required && isWithoutBody(request)) return undefined
  requireJson(request)
  return parseJsonYielding(await readJsonBytes(request, limits))
}

export function isWithoutBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/**
 * Rejects a compressed body.
 *
 * @throws RequestProblem unsupported_media_type
 */
export function requireUncompressed({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (coding !== 'identity') {
    throw new RequestProblem(
      { kind: 'unsupported_media_type', contentEncoding: coding },
      { 'Accept-Encoding': 'identity' },
    )
  }
}

function requireJson(request: IncomingMessage): void {
  requireUncompressed(request)
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

/** Returns a function that checks each chunk of a JSON body, and throws RequestProblem json_beyond_limit above a limit. */
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
 * @param onChunk called with each chunk before it is stored; reading ends if it throws
 * @throws RequestProblem body_too_large; ClientGone; errors of `onChunk`
 */
export function readBytes(
  request: IncomingMessage,
  limitBytes: number,
  onChunk: (chunk: Buffer) => void = () => {},
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
        onChunk(chunk)
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

/** The size above which a text is parsed in a separate turn of the event loop, because parsing it takes milliseconds. */
const SEPARATE_TURN_BYTES = 64 * 1024

/**
 * Returns the value of a JSON text. A large text is parsed in several turns of the event loop, because that and the work
 * before and after it take time in proportion to its size.
 *
 * @throws RequestProblem invalid_json
 */
export async function parseJsonYielding(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length <= SEPARATE_TURN_BYTES) return parseJson(bytes).value
  await setImmediate()
  const value = await parseJsonInTurns(bytes).catch(() => {
    throw invalidJson()
  })
  await setImmediate()
  return value
}

/**
 * Decodes and parses a JSON text, and returns both the text and its value.
 *
 * @throws RequestProblem invalid_json
 */
export function parseJson(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw invalidJson()
  }
}

/** The parser's own error is dropped because its message quotes the body. */
const invalidJson = (): RequestProblem => new RequestProblem({ kind: 'invalid_json' })
