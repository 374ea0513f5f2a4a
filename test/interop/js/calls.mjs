/*
 * Sends gRPC calls with grpc-js over one channel. Reads one order per line of JSON (see CallOrder in concurrent-calls.ts) and
 * prints the code of each call. The last argument is the time between keepalive pings, in milliseconds.
 *
 *   node calls.mjs 127.0.0.1:4317 <token> gzip|identity 200
 */
import { createInterface } from 'node:readline'
import { Client, compressionAlgorithms, credentials, Metadata } from '@grpc/grpc-js'

const [target, token, compression, keepaliveMs] = process.argv.slice(2)
const client = new Client(target, credentials.createInsecure(), {
  'grpc.default_compression_algorithm': compressionAlgorithms[compression],
  'grpc.keepalive_time_ms': Number(keepaliveMs),
  'grpc.keepalive_timeout_ms': 20_000,
})
const metadata = new Metadata()
metadata.set('authorization', `Bearer ${token}`)
const identity = (bytes) => bytes

process.stdout.write(`${JSON.stringify({ id: 'ready' })}\n`)

for await (const line of createInterface({ input: process.stdin })) {
  const { id, path, body, deadlineMs, cancelAfterMs } = JSON.parse(line)
  const options = { deadline: Date.now() + deadlineMs }
  const bytes = Buffer.from(body, 'base64')
  const call = client.makeUnaryRequest(path, identity, identity, bytes, metadata, options, (error) => {
    process.stdout.write(`${JSON.stringify({ id, code: error?.code ?? 0, message: error?.details ?? '' })}\n`)
  })
  if (cancelAfterMs !== undefined) setTimeout(() => call.cancel(), cancelAfterMs)
}
process.exit(0)
