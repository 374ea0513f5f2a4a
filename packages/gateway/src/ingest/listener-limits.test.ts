import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Gate } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificates } from '../connections/tls-certificates.harness.ts'
import { onBothPaths } from './both-paths.harness.ts'
import { accepted, ask, front, head, open, post, RawClient, start, TestIngest } from './http-front.harness.ts'

onBothPaths(() => {
  const times = (count: number) => Array.from({ length: count }, (_, index) => index)

  async function openSilent(text = ''): Promise<Socket> {
    const socket = connect({ port: front.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.resume().write(text)
    return socket
  }

  function openHttp2(): ClientHttp2Session {
    const session = connectHttp2(front.url)
    session.on('error', () => {})
    onTestFinished(() => session.destroy())
    return session
  }

  function statusOver(session: ClientHttp2Session, headers = {}): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const stream = session.request({
        ...{
          ':method': 'POST',
          ':path': '/v1/traces',
          authorization: 'Bearer good',
          'content-type': 'application/json',
        },
        ...headers,
      })
      stream.on('response', (reply) => resolve(reply[':status']))
      stream.on('error', reject)
      stream.resume()
      if (stream.writable) stream.end('abc')
    })
  }

  /** Starts an ingest that answers when the gate opens, and requests that wait for it. */
  async function startBusy(settings: { maxConnections?: number; maxConnectionsPerAddress?: number }, busy: number) {
    const gate = new Gate()
    const ingest = new TestIngest()
    ingest.answer = async () => {
      await gate.opened
      return accepted
    }
    await start({ settings, ingest, config: { healthOnOtlpPorts: true } })
    const clients = await Promise.all(times(busy).map(() => open()))
    const replies = clients.map((client) => client.send(post('abc')).reply())
    await ingest.untilSent(busy)
    return { gate, replies }
  }

  describe('connections without a request make room', () => {
    test.each([
      ['silent connections', ''],
      ['half a head', 'POST / HTTP/1.1\r\nho'],
      ['bytes that are not HTTP', 'nonsense\r\n\r\n'],
      ['half a preface', 'PRI * HT'],
      ['a refused request with a missing body', head({ authorization: 'Bearer wrong', 'content-length': '9' })],
    ])('%s', async (_, text) => {
      await start({ settings: { maxConnections: 100, maxConnectionsPerAddress: 50 } })
      for (const _ of times(3)) await Promise.all(times(100).map(() => openSilent(text)))
      expect((await ask(post('abc'))).status).toBe(200)
    })

    test('TLS handshakes that never end', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'penstock-'))
      onTestFinished(() => rm(directory, { recursive: true }))
      const tls = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') }
      await Promise.all([writeFile(tls.certFile, certificates.one.cert), writeFile(tls.keyFile, certificates.one.key)])
      await start({ tls, settings: { maxConnections: 20 } })
      await Promise.all(times(100).map(() => openSilent()))
      const client = await RawClient.open(front.port, { secure: true })
      onTestFinished(() => client.close())
      expect((await client.send(post('abc')).reply()).status).toBe(200)
    })

    test('HTTP/2 sessions without a stream', async () => {
      await start({ settings: { maxConnections: 5 } })
      const sessions = times(5).map(openHttp2)
      for (const session of sessions) expect(await statusOver(session)).toBe(200)
      expect(await statusOver(openHttp2())).toBe(200)
      await expect.poll(() => sessions.filter(({ closed, destroyed }) => closed || destroyed).length).toBe(1)
    })

    test('silent connections before idle ones', async () => {
      await start({ settings: { maxConnectionsPerAddress: 2 } })
      const first = await open()
      expect((await first.send(post('abc')).reply()).status).toBe(200)
      await Promise.all(times(20).map(() => openSilent()))
      expect((await first.send(post('abc')).reply()).status).toBe(200)
    })
  })

  describe('if every connection has a request', () => {
    test.each([[{ maxConnections: 3 }], [{ maxConnectionsPerAddress: 3 }]])(
      '%j: answers /healthz, answers 503 with Retry-After to other requests, and cuts no connection',
      async (settings) => {
        const { gate, replies } = await startBusy(settings, 3)
        expect(await ask(head({}, '/healthz', 'GET'))).toMatchObject({ status: 200, headers: { connection: 'close' } })
        expect(await ask(post('abc'))).toMatchObject({
          status: 503,
          headers: { connection: 'close', 'retry-after': expect.anything() },
        })
        expect(await statusOver(openHttp2())).toBe(503)
        expect(await statusOver(openHttp2(), { ':method': 'GET', ':path': '/healthz' })).toBe(200)
        gate.open()
        for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200)
        expect((await ask(post('abc'))).status).toBe(200)
      },
    )
  })

  test('sends one answer to a request that is refused and then malformed', async () => {
    await start()
    const client = await open()
    client.send(head({ 'transfer-encoding': 'identity' }))
    expect((await client.reply()).status).toBe(400)
    await expect(client.reply()).rejects.toThrow('closed after ""')
  })

  describe('the Host of a request', () => {
    test.each([
      ['twice over HTTP/1.1', 'HTTP/1.1', ['a', 'a']],
      ['twice over HTTP/1.0', 'HTTP/1.0', ['a', 'b']],
      ['not at all over HTTP/1.1', 'HTTP/1.1', []],
    ])('%s: 400', async (_, version, hosts) => {
      await start()
      const lines = hosts.map((host) => `host: ${host}\r\n`).join('')
      const text = `POST /v1/traces ${version}\r\n${lines}authorization: Bearer good\r\ncontent-length: 0\r\n\r\n`
      expect((await ask(text)).status).toBe(400)
    })

    test('over HTTP/2 host must not differ from :authority', async () => {
      await start()
      const session = openHttp2()
      expect(await statusOver(session, { ':authority': 'a.example', host: 'A.example' })).toBe(200)
      expect(await statusOver(session, { ':authority': 'a.example', host: 'b.example' })).toBe(400)
    })
  })
})
