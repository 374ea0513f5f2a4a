import type { IncomingMessage } from 'node:http'
import { RequestProblem } from './request-problem.ts'

/** The client broke off; nobody is left to be told anything. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * The JSON value of a body of at most `limitBytes`, or `undefined` when it has none and none is `needed`.
 *
 * A body that is too large is not read further than to where that shows; Node discards the rest after the answer.
 *
 * @throws RequestProblem: unsupported_media_type, then body_too_large, then invalid_json; ClientGone
 */
export async function readJson(request: IncomingMessage, limitBytes: number, needed: boolean): Promise<unknown> {
  if (!needed && isWithoutBody(request)) return undefined
  requireJson(request)
  return parseJson(await readBytes(request, limitBytes)).value
}

export function isWithoutBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/** @throws RequestProblem unsupported_media_type for a body that is compressed */
export function requireIdentity({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (coding !== 'identity') {
    throw new RequestProblem({ kind: 'unsupported_media_type' }, { 'Accept-Encoding': 'identity' })
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
 * @param take told of each piece before it is kept; what it throws ends the reading
 * @throws RequestProblem body_too_large; ClientGone; what `take` throws
 */
export function readBytes(
  request: IncomingMessage,
  limitBytes: number,
  take: (bytes: number) => void = () => {},
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
        take(chunk.length)
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

/**
 * With the text that the value came as.
 *
 * @throws RequestProblem invalid_json
 */
export function parseJson(bytes: Buffer): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    // The parser's message quotes the body.
    throw new RequestProblem({ kind: 'invalid_json' })
  }
}
