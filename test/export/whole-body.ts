import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'

/** Returns the decompressed body; `undefined` if it was cut off. */
export async function wholeBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  try {
    for await (const part of request) parts.push(part)
  } catch {
    return undefined
  }
  const wire = Buffer.concat(parts)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(wire) : wire
}
