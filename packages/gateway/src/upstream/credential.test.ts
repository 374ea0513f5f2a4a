import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openUpstreamCredential } from './credential.ts'

let folder = ''
const clock = new ManualClock()
let errors: string[] = []
const options = {
  monotonicMs: () => clock.monotonicMs(),
  onError: (_: string, reason: string) => errors.push(reason),
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credential-'))
  errors = []
})
afterEach(() => rm(folder, { recursive: true }))

async function opened(text: string) {
  const file = join(folder, 'token')
  await writeFile(file, text)
  const credential = await openUpstreamCredential({ file }, options)
  const later = async () => {
    await clock.advance(1_000)
    await credential?.refresh()
    return credential?.value
  }
  return { file, credential, later }
}

test.each([
  ['abc\n', 'Bearer abc'],
  ['  Basic dXNlcjpwYXNz  ', 'Basic dXNlcjpwYXNz'],
])('X-9: sends %j as %j', async (text, value) => {
  expect((await openUpstreamCredential({ header: text }, options))?.value).toBe(value)
  expect((await opened(text)).credential?.value).toBe(value)
})

test('returns undefined if no credential is configured', async () => {
  expect(await openUpstreamCredential(undefined, options)).toBeUndefined()
})

test.each(['', ' \n', 'two\nlines', 'CANARY\x00', 'CANARY'.repeat(2_000)])(
  'refuses a file without a valid credential, and does not quote it',
  async (text) => {
    await expect(opened(text)).rejects.toThrow(/^(?!.*(CANARY|lines))/)
  },
)

test('X-9: uses a changed file within a second, whether written, renamed or linked', async () => {
  const { file, later } = await opened('first')
  await writeFile(file, 'second')
  expect(await later()).toBe('Bearer second')

  const beside = join(folder, 'beside')
  await writeFile(beside, 'third!')
  await rename(beside, file)
  expect(await later()).toBe('Bearer third!')

  await writeFile(beside, 'fourth')
  await symlink(beside, join(folder, 'link'))
  await rename(join(folder, 'link'), file)
  expect(await later()).toBe('Bearer fourth')
})

test('does not check the file again within a second', async () => {
  const { file, credential } = await opened('first')
  await writeFile(file, 'second')
  await clock.advance(999)
  expect(credential?.refresh()).toBeUndefined()
  expect(credential?.value).toBe('Bearer first')
})

test('reports a removed or emptied file, and keeps the previous credential', async () => {
  const { file, later } = await opened('first')
  await writeFile(file, '\n')
  expect(await later()).toBe('Bearer first')
  await rm(file)
  expect(await later()).toBe('Bearer first')
  expect(errors).toEqual(['the credential of upstream is empty', expect.stringContaining('ENOENT')])
  await writeFile(file, 'second')
  expect(await later()).toBe('Bearer second')
})
