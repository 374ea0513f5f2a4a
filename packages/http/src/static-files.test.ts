import { gunzipSync, gzip } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { StaticFile } from './static-files.ts'

vi.mock('node:zlib', async (original) => {
  const zlib = await original<typeof import('node:zlib')>()
  return { ...zlib, gzip: vi.fn(zlib.gzip) }
})

const text = 'the same line again and again\n'.repeat(100)
const request = { 'accept-encoding': 'gzip' }

test('compresses a file again if the first attempt has failed, and only once after it succeeds', async () => {
  const file = new StaticFile(Buffer.from(text), '.txt')
  const failing = (...given: unknown[]) => (given.at(-1) as (error: Error) => void)(new Error('out of memory'))
  vi.mocked(gzip).mockImplementationOnce(failing as typeof gzip)
  await expect(file.reply(request, 'no-cache')).rejects.toThrow('out of memory')
  const replies = [await file.reply(request, 'no-cache'), await file.reply(request, 'no-cache')]
  for (const { content } of replies) expect(gunzipSync(content as Buffer).toString()).toBe(text)
  expect(gzip).toHaveBeenCalledTimes(2)
})
