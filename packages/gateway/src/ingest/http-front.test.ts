import { connect as connectHttp2, constants } from 'node:http2'
import { decodeExportResponse } from '@penstock/otlp'
import { Gate } from '@penstock/testkit'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { onBothPaths } from './both-paths.harness.ts'
import { ask, front, head, json, open, post, readAll, start } from './http-front.harness.ts'

onBothPaths(() => {
  describe('P-6: success', () => {
    test('has an empty body in protobuf, and {} in JSON', async () => {
      await start()
      expect(await ask(post('abc'))).toMatchObject({
        status: 200,
        headers: { 'content-type': 'application/x-protobuf', 'content-length': '0' },
      })
      const reply = await ask(post('{"resourceSpans":[]}', json))
      expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
      expect(reply.body.toString()).toBe('{}')
      expect(front.endings.map(({ outcome, status, wireBytes }) => ({ outcome, status, wireBytes }))).toEqual([
        { outcome: 'success', status: 200, wireBytes: 3 },
        { outcome: 'success', status: 200, wireBytes: 20 },
      ])
    })

    test('E-5: sends a warning within a full success only', async () => {
      await start()
      front.ingest.admitted = { ...front.ingest.admitted, warning: 'This token will expire.' }
      const warning = { rejected: 0n, message: 'This token will expire.' }
      const protobuf = await ask(post('abc'))
      expect(decodeExportResponse('traces', protobuf.body, 'protobuf')).toEqual(warning)
      const asJson = await ask(post('{}', json))
      expect(asJson.body.toString()).toBe('{"partialSuccess":{"errorMessage":"This token will expire."}}')
      const partial = { rejected: 3n, message: 'three are bad' }
      front.ingest.answer = () => ({ kind: 'accepted', partialSuccess: partial, body: undefined })
      expect(decodeExportResponse('traces', (await ask(post('abc'))).body, 'protobuf')).toEqual(partial)
    })

    test('passes on the bytes of upstream to a client with the same encoding', async () => {
      await start()
      const bytes = Buffer.from('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x","unknown":1}}')
      front.ingest.answer = () => ({
        kind: 'accepted',
        partialSuccess: { rejected: 3n, message: 'x' },
        body: { encoding: 'json', bytes },
      })
      expect((await ask(post('{}', json))).body).toEqual(bytes)
      const { body } = await ask(post('abc'))
      expect(decodeExportResponse('traces', body, 'protobuf')).toEqual({ rejected: 3n, message: 'x' })
    })

    test('O-9: sends the expiry of the token in a header', async () => {
      await start()
      front.ingest.admitted = { ...front.ingest.admitted, expiresAt: '2026-12-01T00:00:00Z' }
      expect((await ask(post('abc'))).headers['x-ingest-token-expires']).toBe('2026-12-01T00:00:00Z')
    })

    test('P-19: answers success to an empty request without asking upstream', async () => {
      await start()
      const client = await open()
      for (const bytes of [
        post(''),
        head(),
        Buffer.concat([Buffer.from(head({ 'transfer-encoding': 'chunked' })), Buffer.from('0\r\n\r\n')]),
      ]) {
        expect(await client.send(bytes).reply()).toMatchObject({ status: 200 })
      }
      expect(front.ingest.sent.filter(({ body }) => body.length > 0)).toEqual([])
      expect(await ask(post('', { authorization: '' }))).toMatchObject({ status: 401 })
    })
  })

  describe('requests at the gate', () => {
    test('P-18: have the unchanged body and the headers for upstream', async () => {
      await start()
      const body = '{"traceId" : "00FF", "n": "18446744073709551615", "?": 1e400}'
      await ask(
        post(body, { ...json, 'X-Custom': 'a', 'x-scope-orgid': 'evil', connection: 'x-custom-2', 'x-custom-2': 'b' }),
      )
      const [{ call, body: sent } = front.ingest.sent[0]!] = front.ingest.sent
      expect(sent.toString()).toBe(body)
      expect(call).toMatchObject({
        transport: 'http',
        signal: 'traces',
        encoding: 'json',
        contentEncoding: '',
        headers: ['x-custom', 'a'],
        declaredBytes: 61,
      })
    })

    test('E-2: are checked separately, also on one connection', async () => {
      await start()
      const client = await open()
      expect(await client.send(post('a')).reply()).toMatchObject({ status: 200 })
      expect(
        await client.send(post('a', { authorization: 'Bearer bad', origin: 'https://a.test' }, '/v1/logs')).reply(),
      ).toMatchObject({
        status: 401,
      })
      expect(await client.send(post('a')).reply()).toMatchObject({ status: 200 })
      expect(front.ingest.admissionRequests[1]).toEqual({
        transport: 'http',
        signal: 'logs',
        credential: { kind: 'bearer', value: 'bad', from: 'header' },
        origin: 'https://a.test',
        source: '127.0.0.1',
        userAgent: undefined,
        declaredBytes: 1,
      })
    })

    test('T-9: are malformed with a repeated Authorization, although Node drops the second', async () => {
      await start()
      const twice = post('a').toString().replace('authorization:', 'authorization: Bearer good\r\nAuthorization:')
      expect(await ask(twice)).toMatchObject({ status: 401 })
      expect(front.ingest.admissionRequests[0]?.credential).toEqual({ kind: 'malformed' })
    })

    test('T-9: use a token in the query if configured, and do not forward it', async () => {
      await start({ config: { credentialSources: ['query'] } })
      expect(await ask(post('a', { authorization: '' }, '/v1/traces?access_token=good'))).toMatchObject({ status: 200 })
      expect(JSON.stringify(front.ingest.sent)).not.toContain('good')
    })

    test('have a body of unknown length buffered, or streamed if it becomes too long', async () => {
      await start()
      front.ingest.unknownLengthBufferLimitBytes = 5
      const streamed: string[] = []
      front.ingest.readStream = async (body) => {
        const whole = await readAll(body)
        streamed.push(whole.toString())
        return whole
      }
      const client = await open()
      for (const rest of [['de'], ['def', 'g']]) {
        client.send(`${head({ 'transfer-encoding': 'chunked' })}3\r\nabc\r\n`)
        client.send(`${rest.map((part) => `${part.length}\r\n${part}\r\n`).join('')}0\r\n\r\n`)
        expect(await client.reply()).toMatchObject({ status: 200 })
      }
      expect(front.ingest.sent.map(({ body }) => body.toString())).toEqual(['abcde', 'abcdefg'])
      expect(streamed).toEqual(['abcdefg'])
      expect(front.ingest.reservedBytes).toBe(0)
    })

    test('X-1: have a streamed body of unknown length', async () => {
      await start()
      const client = await open()
      client.send(`${head({ 'transfer-encoding': 'chunked' })}3\r\nabc\r\n`).send('2\r\nde\r\n0\r\n\r\n')
      expect(await client.reply()).toMatchObject({ status: 200 })
      expect(front.ingest.sent[0]).toMatchObject({ body: Buffer.from('abcde'), broken: undefined })
    })
  })

  describe('P-2, P-3, P-4: the order of checks', () => {
    const foreign = { 'content-type': 'text/plain' }

    test.each([
      ['an unknown path', head({}, '/v1/spans'), 404],
      ['an unknown path without a token', head({ authorization: '' }, '//v1/traces'), 404],
      ['another method', head({ authorization: '' }, '/v1/traces', 'PUT'), 405],
      ['no token and an unsupported media type', post('a', { ...foreign, authorization: '' }), 401],
      ['an unsupported media type', post('a', foreign), 415],
      ['an absolute target without a token', post('a', { authorization: '' }, 'http://x/v1/traces'), 401],
      ['an encoded target without a token', post('a', { authorization: '' }, '/v1/%74races'), 401],
    ])('%s: %d', async (_, bytes, status) => {
      await start()
      expect(await ask(bytes)).toMatchObject({ status })
      expect(front.ingest.sent).toEqual([])
    })

    test('sends the allowed methods with 405', async () => {
      await start()
      expect((await ask(head({}, '/v1/traces', 'GET'))).headers.allow).toBe('POST, OPTIONS')
      expect((await ask('CONNECT gateway:443 HTTP/1.1\r\nhost: gateway:443\r\n\r\n')).headers).toMatchObject({
        allow: 'POST, OPTIONS',
        connection: 'close',
      })
    })

    test('P-7: answers 415 and the supported encodings if bodies must be read', async () => {
      await start({ config: { attributeResources: true } })
      const reply = await ask(post('a', { 'content-encoding': 'lz4' }))
      expect(reply).toMatchObject({ status: 415, headers: { 'accept-encoding': 'gzip, identity' } })
    })

    test('P-7: forwards unsupported content encodings unchanged otherwise', async () => {
      await start()
      expect(await ask(post('a', { 'content-encoding': 'LZ4' }))).toMatchObject({ status: 200 })
      expect(front.ingest.sent[0]?.call.contentEncoding).toBe('lz4')
    })
  })

  describe('P-16: CORS', () => {
    const origin = { origin: 'https://app.a.test' }
    const exposed = {
      'access-control-allow-origin': 'https://app.a.test',
      'access-control-expose-headers': 'Retry-After, WWW-Authenticate',
      vary: 'Origin',
    }

    test('answers a preflight without a token', async () => {
      await start({ config: { allowedOrigins: ['https://*.a.test'] } })
      const lines = { ...origin, authorization: '', 'access-control-request-method': 'POST' }
      const reply = await ask(
        head({ ...lines, 'access-control-request-headers': 'authorization' }, '/v1/traces', 'OPTIONS'),
      )
      expect(reply).toMatchObject({
        status: 204,
        headers: {
          ...exposed,
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization',
        },
      })
      expect(front.ingest.admissionRequests).toEqual([])
    })

    test.each([
      [200, post('a', origin)],
      [401, head({ ...origin, authorization: '' })],
      [404, head(origin, '/nothing')],
      [405, head(origin, '/v1/traces', 'PUT')],
      [413, head({ ...origin, 'content-length': '99999999999' })],
      [415, post('a', { ...origin, 'content-type': 'text/plain' })],
    ])('%d can be read by the page', async (status, bytes) => {
      await start({ config: { allowedOrigins: ['https://*.a.test'] } })
      expect(await ask(bytes)).toMatchObject({ status, headers: exposed })
    })

    test('sends no CORS headers to another origin', async () => {
      await start({ config: { allowedOrigins: ['https://*.a.test'] } })
      const { headers } = await ask(post('a', { origin: 'https://b.test' }))
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(headers.vary).toBe('Origin')
    })
  })

  describe('X-14: /healthz', () => {
    test('is served without a token if configured, and reports the state', async () => {
      await start({ config: { healthOnOtlpPorts: true } })
      const bytes = head({ authorization: '' }, '/healthz', 'GET')
      expect(await ask(bytes)).toMatchObject({ status: 200, body: Buffer.from('ok\n') })
      front.state.isReady = false
      expect(await ask(bytes)).toMatchObject({ status: 503 })
    })

    test('is not served otherwise', async () => {
      await start()
      expect(await ask(head({}, '/healthz', 'GET'))).toMatchObject({ status: 404 })
    })
  })

  describe('P-10: Expect: 100-continue', () => {
    const expecting = { expect: '100-continue', 'content-length': '3' }

    test('sends 100 when the head is accepted', async () => {
      await start()
      const client = await open()
      expect(await client.send(head(expecting)).reply()).toMatchObject({ status: 100 })
      expect(await client.send('abc').reply()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
      expect(front.ingest.sent[0]?.body.toString()).toBe('abc')
    })

    test.each([
      [401, { authorization: '' }],
      [415, { 'content-type': 'text/plain' }],
      [413, { 'content-length': '99999999999' }],
    ])('%d instead of it; what follows might be body or request, so the connection ends', async (status, lines) => {
      await start()
      const reply = await ask(head({ ...expecting, ...lines }))
      expect(reply).toMatchObject({ status, headers: { connection: 'close' } })
    })
  })

  test('P-10: sends no 100 to an HTTP/1.0 client', async () => {
    await start()
    const asking = post('abc', { expect: '100-continue' }).toString().replace(' HTTP/1.1', ' HTTP/1.0')
    expect(await ask(asking)).toMatchObject({ status: 200 })
    expect(front.ingest.sent[0]?.body.toString()).toBe('abc')
  })

  test('P-19, T-9: reads headers that follow thousands of others', async () => {
    await start()
    const fillers = 'a:\r\n'.repeat(2_000)
    const late = (lines: string) =>
      `POST /v1/traces HTTP/1.1\r\nhost: gateway\r\n${fillers}content-type: application/json\r\n${lines}\r\nabc`
    const good = 'authorization: Bearer good\r\n'
    expect(await ask(late(`${good}content-length: 3\r\n`))).toMatchObject({ status: 200 })
    expect(front.ingest.sent.map(({ body }) => body.toString())).toEqual(['abc'])
    expect(await ask(late(`${good}${good}content-length: 3\r\n`))).toMatchObject({ status: 401 })
  })

  test('handles HTTP/2 in the same way', async () => {
    await start({ config: { allowedOrigins: ['*'] } })
    const session = connectHttp2(front.url)
    const send = async (headers: Record<string, string>, body: string) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/v1/traces',
        'content-type': 'application/json',
        ...headers,
      })
      stream.end(body)
      const [reply] = await new Promise<[Record<string, unknown>]>((resolve) =>
        stream.once('response', (got) => resolve([got])),
      )
      let text = ''
      for await (const piece of stream) text += piece
      return { status: reply[':status'], origin: reply['access-control-allow-origin'], text }
    }
    const good = { authorization: 'Bearer good' }
    expect(await send(good, 'abc')).toEqual({ status: 200, origin: undefined, text: '{}' })
    expect(await send({ ...good, origin: 'https://a.test' }, '')).toMatchObject({ status: 200, origin: '*' })
    expect(await send({}, 'a'.repeat(100_000))).toMatchObject({ status: 401 })
    expect(await send({ ...good, ':path': '//v1/traces' }, '')).toMatchObject({ status: 404 })
    expect(await send({ ...good, ':method': 'PUT' }, '')).toMatchObject({ status: 405 })
    expect(front.ingest.sent.map(({ body }) => body.toString())).toEqual(['abc'])
    session.close()
  })

  test.each([
    ['HEAD', '/healthz', 200],
    ['HEAD', '/v1/traces', 405],
    ['OPTIONS', '/v1/traces', 204],
  ])('ends the reply to %s %s over HTTP/2 with its head', async (method, path, status) => {
    await start({ config: { healthOnOtlpPorts: true } })
    const session = connectHttp2(front.url)
    const stream = session.request({ ':method': method, ':path': path })
    stream.end()
    const flags = new Promise((resolve) => {
      stream.once('response', (got, received) =>
        resolve([got[':status'], received & constants.NGHTTP2_FLAG_END_STREAM]),
      )
    })
    expect(await flags).toEqual([status, constants.NGHTTP2_FLAG_END_STREAM])
    session.close()
  })

  test('answers pipelined requests in order', async () => {
    await start()
    const first = new Gate()
    front.ingest.answer = async (_, body) => {
      if (body.toString() === 'first') await first.opened
      return { kind: 'accepted', partialSuccess: undefined, body: undefined }
    }
    const client = await open()
    client.send(Buffer.concat([post('first'), post('second', { authorization: '' }), post('{}', json)]))
    await front.ingest.untilSent(2)
    first.open()
    expect(await client.reply()).toMatchObject({ status: 200, headers: { 'content-type': 'application/x-protobuf' } })
    expect(await client.reply()).toMatchObject({ status: 401 })
    expect(await client.reply()).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
  })

  test('works with another HTTP client', async () => {
    await start()
    const { statusCode, body } = await request(`${front.url}/v1/traces`, {
      method: 'POST',
      headers: { authorization: 'Bearer good', 'content-type': 'application/json' },
      body: '{}',
    })
    expect({ statusCode, text: await body.text() }).toEqual({ statusCode: 200, text: '{}' })
  })
})
