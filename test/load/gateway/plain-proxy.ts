/** A minimal proxy: node:http for incoming requests, undici for outgoing ones, no authentication. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 64 })
const server = createServer(async (request, response) => {
  const { statusCode, headers, body } = await pool.request({
    method: 'POST',
    path: request.url!,
    headers: { 'content-type': request.headers['content-type'], 'content-length': request.headers['content-length'] },
    body: request,
  })
  response.writeHead(statusCode, headers)
  body.pipe(response)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => process.exit())
