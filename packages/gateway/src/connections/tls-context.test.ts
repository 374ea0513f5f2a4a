import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { certificates } from './tls-certificates.harness.ts'
import { readTlsFiles } from './tls-context.ts'

let folder: string
const files = () => ({ certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') })

/** Builds contexts as before, and counts them. */
const build = vi.spyOn(tls, 'createSecureContext')

beforeAll(() => syncBuiltinESMExports())
afterAll(() => {
  build.mockRestore()
  syncBuiltinESMExports()
})

beforeEach(async () => {
  build.mockClear()
  folder = await mkdtemp(join(tmpdir(), 'penstock-tls-context-'))
  await writeFile(files().certFile, certificates.one.cert)
  await writeFile(files().keyFile, certificates.one.key)
})
afterEach(() => rm(folder, { recursive: true }))

test('X-13: builds no context from unchanged files', async () => {
  const first = await readTlsFiles(files(), undefined)
  expect(first?.options).toEqual({
    cert: Buffer.from(certificates.one.cert),
    key: Buffer.from(certificates.one.key),
  })
  expect(build).toHaveBeenCalledTimes(1)
  expect(await readTlsFiles(files(), first?.digest)).toBeUndefined()
  expect(build).toHaveBeenCalledTimes(1)
})

test('X-13: returns changed files, and rejects a certificate and key that do not match', async () => {
  const first = await readTlsFiles(files(), undefined)
  await writeFile(files().certFile, certificates.two.cert)
  await expect(readTlsFiles(files(), first?.digest)).rejects.toThrow('key values mismatch')
  await writeFile(files().keyFile, certificates.two.key)
  const second = await readTlsFiles(files(), first?.digest)
  expect(second?.digest).not.toBe(first?.digest)
  expect(build).toHaveBeenCalledTimes(3)
})
