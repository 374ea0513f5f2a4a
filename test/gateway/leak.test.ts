import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { EXPORT_TRACES, openGrpcCall } from './grpc-call.ts'
import { idOf, numberedBody } from './numbered-body.ts'
import { PROCESS_ADMIN_KEY, ProcessGateway } from './process-gateway.ts'

const upstreamSecret = 'credential-for-the-upstream-alone'
const importedSecret = 'a-token-that-the-old-proxy-took'

/** Returns the part to search for: long enough to exclude coincidence, short enough to find a truncated secret, without the public id. */
const needleOf = (secret: string) => (/^ps(?:in|ak)_\w{12}_(\w+)$/.exec(secret)?.[1] ?? secret).slice(0, 16)

test('A-4: a secret appears only in the answer that created it, not in other answers, logs, metrics, audit records or files', async () => {
  let upstreamStatus = 200
  const forwarded: string[] = []
  const upstream = createServer((message, response) => {
    // A client may put anything into its own user agent.
    forwarded.push(JSON.stringify([message.url, { ...message.headers, 'user-agent': '', origin: '' }]))
    message.resume().on('end', () => {
      response.writeHead(upstreamStatus, { 'content-type': 'application/x-protobuf' })
      response.end()
    })
  })
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const closeUpstream = () => {
    upstream.closeAllConnections()
    upstream.close()
  }
  onTestFinished(closeUpstream)
  await using gateway = await ProcessGateway.start({
    upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    env: {
      PENSTOCK_UPSTREAM_AUTHORIZATION: `Bearer ${upstreamSecret}`,
      PENSTOCK_LOG_ACCEPTED: 'true',
      PENSTOCK_WARN_OF_EXPIRY: 'true',
      PENSTOCK_CREDENTIAL_SOURCES: 'x-api-key,query',
      PENSTOCK_HEALTH_ON_OTLP_PORTS: 'true',
      PENSTOCK_ALLOWED_ORIGINS: 'https://app.example',
    },
  })
  /** Headers and bodies of all answers. */
  const answers: string[] = []
  const call = async (method: string, path: string, body?: object, key = PROCESS_ADMIN_KEY) => {
    const reply = await gateway.call(method, path, body, key)
    answers.push(JSON.stringify([...reply.headers]), reply.text)
    return reply
  }
  const cli = async (args: readonly string[], stdin = '') => {
    const outcome = await penstock(args, { stdin, env: { PENSTOCK_DATA_DIR: gateway.dataDir } })
    answers.push(outcome.stdout, outcome.stderr)
    return outcome.stdout.trim()
  }
  const exported = async (
    path: string,
    headers: Record<string, string>,
    body: Buffer | string = numberedBody(idOf(1)),
  ) => {
    const sent = request(`${gateway.otlpUrl}${path}`, { method: 'POST', headers, agent: false })
    sent.end(body)
    const [response] = await once(sent, 'response')
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part)
    answers.push(JSON.stringify(response.rawHeaders), Buffer.concat(parts).toString('latin1'))
    return response.statusCode as number
  }
  const exportedOverGrpc = async (token: string) => {
    const session = connect(gateway.otlpUrl)
    const stream = openGrpcCall(session, EXPORT_TRACES, numberedBody(idOf(1)), token)
    const parts: Buffer[] = []
    stream.on('response', (headers) => answers.push(JSON.stringify(headers)))
    stream.on('trailers', (headers) => answers.push(JSON.stringify(headers)))
    stream.on('data', (part: Buffer) => parts.push(part))
    await once(stream, 'close')
    answers.push(Buffer.concat(parts).toString('latin1'))
    session.close()
  }

  // Each is shown once, by the API or the command line.
  const soon = new Date(Date.now() + 86_400_000).toISOString()
  const { json: plain } = await call('POST', '/tokens', { name: 'plain' })
  const { json: ending } = await call('POST', '/tokens', { name: 'ending', expires_at: soon })
  const { json: narrow } = await call('POST', '/tokens', { name: 'narrow', signals: ['logs'] })
  const limits = { all: { second: { requests: 1 } } }
  const { json: limited } = await call('POST', '/tokens', { name: 'limited', limits })
  const { json: rotated } = await call('POST', `/tokens/${plain.id}/rotate`)
  const { json: apiKey } = await call('POST', '/api/v1/api_keys', { name: 'alice', role: 'Editor' })
  const typed = await cli(['token', 'create', '--name', 'typed'])
  const shown = [plain, ending, narrow, limited, rotated].map(({ token }) => token as string)
  shown.push(apiKey.key, typed)
  shown.push(await cli(['token', 'rotate', typed.slice(5, 17)]), await cli(['api-key', 'create', '--name', 'bob']))
  // These are known to the operator, and never shown.
  await call('POST', '/tokens/import', { name: 'imported', token: importedSecret })
  await cli(['token', 'import', '--name', 'imported too'], `${importedSecret}-too`)
  const pepper = readFileSync(join(gateway.dataDir, 'pepper'), 'utf8').trim()
  const hidden = [importedSecret, upstreamSecret, PROCESS_ADMIN_KEY, pepper.split(':').at(-1)!]
  const secrets = [...shown, ...hidden]
  expect(new Set(secrets.map(needleOf)).size).toBe(13)

  const protobuf = { 'content-type': 'application/x-protobuf' }
  for (const mode of ['off', 'report', 'warn', 'enforce']) {
    await gateway.call('PUT', '/state', { enabled: mode === 'enforce', mode })
    for (const secret of secrets) {
      const bearer = { ...protobuf, authorization: `Bearer ${secret}` }
      await exported('/v1/traces', bearer)
      await exported('/v1/traces', { ...protobuf, authorization: `Bearer ${secret.slice(0, -1)}x` })
      await exported('/v1/traces', { ...protobuf, authorization: `Basic ${secret}` })
      await exported('/v1/traces', { ...protobuf, authorization: `Bearer ${secret} ${secret}` })
      await exported('/v1/traces', { ...protobuf, 'x-api-key': secret })
      await exported(`/v1/traces?token=${secret}&access_token=${secret}`, protobuf)
      await exported(`/v1/${secret}`, bearer)
      await exported('/v1/traces', { ...bearer, 'content-type': `text/${secret}` }, secret)
      await exported('/v1/traces', { ...bearer, 'content-encoding': 'gzip' }, secret)
      await exported('/v1/traces', { ...bearer, origin: `https://${secret}.example`, 'user-agent': agentNamed(secret) })
      await exportedOverGrpc(secret)
    }
  }
  upstreamStatus = 401
  await exported('/v1/traces', { ...protobuf, authorization: `Bearer ${rotated.token}` })
  upstreamStatus = 500
  await exported('/v1/traces', { ...protobuf, authorization: `Bearer ${rotated.token}` })
  closeUpstream()
  await exported('/v1/traces', { ...protobuf, authorization: `Bearer ${rotated.token}` })
  for (const secret of secrets) {
    await call('GET', `/tokens/${secret}`)
    await call('POST', '/tokens', { name: 'x', [secret]: 1 })
    await call('POST', '/tokens', { name: 'x', signals: [secret] })
    await call('PUT', '/state', { enabled: secret })
    await call('GET', '/state', undefined, `${secret}?`)
    await call('POST', '/tokens/verify', { token: secret })
    await call('GET', `/forward-auth/${secret}`)
  }
  await call('DELETE', `/tokens/${narrow.id}`)
  for (const path of ['/tokens?status=all', '/audit?limit=100', '/state', '/readiness', '/api/v1/api_keys']) {
    expect((await call('GET', path)).status).toBe(200)
  }
  for (const path of ['/metrics', '/readyz', '/livez', '/api/v1/openapi.json']) {
    answers.push((await gateway.page(path)).text)
  }
  await cli(['token', 'list'])
  await cli(['api-key', 'list'])
  const filesWhileItRuns = files(gateway.dataDir)
  expect(filesWhileItRuns.map(({ name }) => name)).toEqual(expect.arrayContaining(['gateway.db', 'gateway.db-wal']))
  expect(await gateway.stop()).toBe(0)

  const output = { stdout: gateway.stdout, stderr: gateway.stderr }
  expect(output.stderr.length).toBeGreaterThan(10_000)
  for (const [index, secret] of secrets.entries()) {
    const needle = needleOf(secret)
    const isShown = index < shown.length
    const matching = answers.filter((answer) => answer.includes(needle))
    const excerpts = matching.map((answer) => answer.replaceAll(needle, '<secret>').slice(0, 400))
    // The first is the answer that created the secret.
    expect(excerpts.slice(isShown ? 1 : 0)).toEqual([])
    expect(excerpts).toHaveLength(isShown ? 1 : 0)
    for (const text of Object.values(output)) {
      const line = text.split('\n').find((each) => each.includes(needle))
      expect(line?.replaceAll(needle, '<secret>')).toBeUndefined()
    }
    const holding = [...filesWhileItRuns, ...files(gateway.dataDir)].filter(({ bytes }) => bytes.includes(needle))
    expect(new Set(holding.map(({ name }) => name))).toEqual(new Set(secret === hidden[3] ? ['pepper'] : []))
  }
  // Upstream receives the gateway's credential, and never a client's.
  expect(forwarded.length).toBeGreaterThan(100)
  for (const secret of shown) expect(forwarded.find((head) => head.includes(needleOf(secret)))).toBeUndefined()
  expect(forwarded.every((head) => head.includes(upstreamSecret))).toBe(true)
})

/** The readiness report shows the name of a user agent. A secret without our prefix cannot be recognized there. */
const agentNamed = (secret: string) => (secret.startsWith('ps') ? `${secret}/1.0` : 'agent/1.0')

const files = (directory: string) =>
  readdirSync(directory).map((name) => ({ name, bytes: readFileSync(join(directory, name)) }))

test('A-4: error messages do not repeat a pepper, a credential or a key that cannot be used', async () => {
  const secret = 'not/base64/but/secret/all/the/same'
  for (const env of [
    { PENSTOCK_PEPPERS: secret },
    { PENSTOCK_PEPPERS: `one:${secret}` },
    { PENSTOCK_UPSTREAM_AUTHORIZATION: `${secret}\n` },
    { PENSTOCK_UPSTREAM: `http://user:${secret}@127.0.0.1:9` },
    { PENSTOCK_OBS_API_KEY: secret.slice(0, 19) },
  ]) {
    const outcome = await ProcessGateway.start({ upstream: 'http://127.0.0.1:9', env }).then(
      async (started) => {
        await started[Symbol.asyncDispose]()
        return started.stdout + started.stderr
      },
      (error: Error) => error.message,
    )
    expect(outcome).not.toContain(secret.slice(0, 12))
  }
})
