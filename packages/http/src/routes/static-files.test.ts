import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { StaticFile } from './static-files.ts'

const text = 'the same line again and again\n'.repeat(100)
const request = { 'accept-encoding': 'gzip' }

test('compresses a file again if the first attempt has failed, and only once after it succeeds', async () => {
  let attempts = 0
  const gzip = async (bytes: Buffer) => {
    attempts += 1
    if (attempts === 1) throw new Error('out of memory')
    return gzipSync(bytes)
  }
  const file = new StaticFile(Buffer.from(text), '.txt', { gzip, br: gzip })
  await expect(file.reply(request, 'no-cache')).rejects.toThrow('out of memory')
  const replies = [await file.reply(request, 'no-cache'), await file.reply(request, 'no-cache')]
  for (const { content } of replies) expect(gunzipSync(content as Buffer).toString()).toBe(text)
  expect(attempts).toBe(2)
})
