import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken } from '../tokens/token-operations.ts'
import { openPeppers } from './open-peppers.ts'

let gateway: TemporaryGateway
let pepperFile: string

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  pepperFile = join(gateway.directory, 'pepper')
})
afterEach(() => gateway.close())

const open = (settings: { configured?: readonly string[]; passphrase?: string } = {}) =>
  openPeppers(gateway.db, { dataDir: gateway.directory, randomBytes, ...settings })

const keyOf = (fill: number) => Buffer.alloc(32, fill).toString('base64')

test('T-6: the first start writes a pepper that only its owner can read, and later starts use it', async () => {
  expect(statSync(pepperFile).mode & 0o777).toBe(0o600)
  expect(await open()).toEqual(gateway.peppers)
  expect(gateway.peppers.byId.get(gateway.peppers.newestId)).toHaveLength(32)
})

test('T-6: concurrent first starts agree on one pepper and leave no other file', async () => {
  rmSync(pepperFile)
  const opened = await Promise.all(Array.from({ length: 5 }, () => open()))
  expect(opened).toEqual(Array.from({ length: 5 }, () => opened[0]))
  expect(readdirSync(gateway.directory).filter((name) => name.startsWith('pepper'))).toEqual(['pepper'])
})

test('T-6: a start with tokens but without their pepper fails, and creates no pepper', async () => {
  await createToken(gateway.as('Editor'), { name: 'ci' })
  rmSync(pepperFile)
  await expect(open()).rejects.toThrow('is missing: restore it from a backup')
  expect(existsSync(pepperFile)).toBe(false)
  await expect(open({ configured: [`other:${keyOf(1)}`] })).rejects.toThrow('not configured')
})

test('T-6: a different key with the same name is not taken for the old pepper', async () => {
  await createToken(gateway.as('Editor'), { name: 'ci' })
  const [name] = readFileSync(pepperFile, 'utf8').split(':')
  writeFileSync(pepperFile, `${name}:${keyOf(9)}\n`)
  await expect(open()).rejects.toThrow('not configured')
})

test('T-6: new tokens use the first configured pepper, and the others keep old tokens valid', async () => {
  await createToken(gateway.as('Editor'), { name: 'ci' })
  const old = readFileSync(pepperFile, 'utf8').trim()
  const peppers = await open({ configured: [`next:${keyOf(3)}`, old] })
  expect([...peppers.byId.keys()]).toEqual([peppers.newestId, gateway.peppers.newestId])
  expect(peppers.newestId).toMatch(/^next-[0-9a-f]{8}$/)
})

test('T-6: a passphrase gives the same pepper at every start, and a different passphrase gives a different one', async () => {
  const first = await open({ passphrase: 'correct horse battery' })
  expect(await open({ passphrase: 'correct horse battery' })).toEqual(first)
  expect((await open({ passphrase: 'incorrect horse battery' })).newestId).not.toBe(first.newestId)
  expect(first.byId.get(first.newestId)).toHaveLength(32)
})

test.each([
  [{ configured: ['secretsecretsecret'] }],
  [{ configured: [`id:${Buffer.alloc(31).toString('base64')}`] }],
  [{ passphrase: 'secret' }],
])('an unusable setting is refused without repeating it: %j', async (settings) => {
  const failure = await open(settings).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'PepperError' })
  expect(String(failure)).not.toContain('secret')
})
