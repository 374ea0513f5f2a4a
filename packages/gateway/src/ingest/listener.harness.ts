import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { onTestFinished } from 'vitest'
import { front } from './http-front.harness.ts'

/** Opens an HTTP/2 session with `front`, and closes it at the end of the test. */
export function openHttp2(scheme = 'http', options = {}): ClientHttp2Session {
  const session = connectHttp2(`${scheme}://127.0.0.1:${front.port}`, { rejectUnauthorized: false, ...options })
  session.on('error', () => {})
  onTestFinished(() => {
    session.destroy()
  })
  return session
}

/** Returns the status of the answer to an export over HTTP/2. */
export function statusOver(session: ClientHttp2Session, body = 'abc', headers = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': '/v1/traces', authorization: 'Bearer good', 'content-type': 'application/json' },
      ...headers,
    })
    stream.on('response', (reply) => resolve(reply[':status']))
    stream.on('error', reject)
    stream.resume()
    stream.end(body)
  })
}

/** Returns the number of open connections of a transport, as the metrics show it. */
export const connections = (transport: string) =>
  front.metrics.cell('otelcol_receiver_active_connections', { transport }).value
