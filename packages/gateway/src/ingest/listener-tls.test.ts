import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificates } from '../connections/tls-certificates.harness.ts'
import { onBothPaths } from './both-paths.harness.ts'
import { front, open, post, start, startFront } from './http-front.harness.ts'
import { openHttp2, statusOver } from './listener.harness.ts'

onBothPaths(() => {
  describe('X-13: TLS', () => {
    async function startTls(clientCa?: string) {
      const folder = await mkdtemp(join(tmpdir(), 'penstock-tls-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
      await write(files, certificates.one)
      if (clientCa === undefined) {
        await start({ tls: files })
      } else {
        const clientCaFile = join(folder, 'ca.crt')
        await writeFile(clientCaFile, clientCa)
        await start({ tls: { ...files, clientCaFile } })
      }
      return files
    }

    const write = async (files: { certFile: string; keyFile: string }, pair: { cert: string; key: string }) => {
      await writeFile(`${files.certFile}.new`, pair.cert)
      await writeFile(`${files.keyFile}.new`, pair.key)
      await rename(`${files.certFile}.new`, files.certFile)
      await rename(`${files.keyFile}.new`, files.keyFile)
    }

    const nameShown = async () => {
      const client = await open({ secure: true })
      return (client.socket as TLSSocket).getPeerCertificate().subject.CN
    }

    test('P-1: detects the version by ALPN, or by the first bytes without it', async () => {
      await startTls()
      expect(await (await open({ secure: true })).send(post('abc')).reply()).toMatchObject({ status: 200 })
      expect(await statusOver(openHttp2('https'))).toBe(200)
      const socket = connectTls({
        port: front.port,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        ALPNProtocols: ['http/1.1'],
      })
      onTestFinished(() => {
        socket.destroy()
      })
      await new Promise((resolve) => socket.once('secureConnect', resolve))
      expect(socket.alpnProtocol).toBe('http/1.1')
    })

    test('uses a new certificate for new connections, and keeps old ones open', async () => {
      const files = await startTls()
      const old = await open({ secure: true })
      expect(await old.send(post('abc')).reply()).toMatchObject({ status: 200 })
      await write(files, certificates.two)
      await expect
        .poll(async () => {
          await front.clock.advance(1_000)
          return nameShown()
        })
        .toBe('two.gateway.test')
      expect(await old.send(post('abc')).reply()).toMatchObject({ status: 200 })
    })

    test('keeps the certificate while only one file has been replaced', async () => {
      const files = await startTls()
      await writeFile(files.certFile, certificates.two.cert)
      await front.clock.advance(2_000)
      expect(await nameShown()).toBe('one.gateway.test')
      await writeFile(files.keyFile, certificates.two.key)
      await expect
        .poll(async () => {
          await front.clock.advance(1_000)
          return nameShown()
        })
        .toBe('two.gateway.test')
    })

    test('demands a client certificate if configured', async () => {
      await startTls(certificates.two.cert)
      const status = (options: object) => statusOver(openHttp2('https', options))
      await expect(status({})).rejects.toThrow()
      expect(await status({ cert: certificates.two.cert, key: certificates.two.key })).toBe(200)
    })

    test('rejects a key that does not match its certificate at the start', async () => {
      const files = await startTls()
      await writeFile(files.certFile, certificates.two.cert)
      await expect(startFront({ tls: files })).rejects.toThrow('key values mismatch')
    })
  })
})
