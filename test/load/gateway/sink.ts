/** A bare sink that reads bodies and answers 200. Its cost is the minimum of an HTTP server in this runtime. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  request.on('data', () => {})
  request.on('end', () => {
    response.writeHead(200, ['content-type', 'application/x-protobuf', 'content-length', '0'])
    response.end()
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => process.exit())
