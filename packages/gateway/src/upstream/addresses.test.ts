import { expect, test } from 'vitest'
import { Addresses, type Resolve } from './addresses.ts'

function scene(answers: readonly (readonly string[] | Error)[], hostname = 'upstream.test') {
  const now = { ms: 0 }
  let asked = 0
  const gone: string[] = []
  const resolve: Resolve = () => {
    const answer = answers[asked++] ?? new Error('the script is over')
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const addresses = new Addresses<string>({
    hostname,
    nowMs: () => now.ms,
    resolve,
    keep: (ip) => `kept for ${ip}`,
    release: (kept) => gone.push(kept),
  })
  const take = async () => {
    await addresses.current()
    return addresses.pick()
  }
  const next = async (count: number) => {
    const taken: string[] = []
    for (let i = 0; i < count; i++) taken.push((await take()).ip)
    return taken.toSorted()
  }
  const at = (ip: string) => addresses.all.find((address) => address.ip === ip)!
  return { now, addresses, next, at, gone, asked: () => asked }
}

test('X-7: all addresses in turn, asked for again after 30 s', async () => {
  const { now, next, asked } = scene([['10.0.0.1', '10.0.0.2'], ['10.0.0.3']])
  expect(await next(4)).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'])
  now.ms = 29_999
  expect(await next(1)).not.toEqual(['10.0.0.3'])
  now.ms = 30_000
  expect(await next(2)).toEqual(['10.0.0.3', '10.0.0.3'])
  expect(asked()).toBe(2)
})

test('X-7: three failures in a row, and an address rests for 10 s', async () => {
  const { now, addresses, next, at } = scene([['10.0.0.1', '10.0.0.2']])
  await next(1)
  for (const _ of [1, 2]) addresses.failed(at('10.0.0.1'))
  at('10.0.0.1').failures = 0
  addresses.failed(at('10.0.0.1'))
  expect(await next(2)).toEqual(['10.0.0.1', '10.0.0.2'])
  for (const _ of [1, 2]) addresses.failed(at('10.0.0.1'))
  expect(await next(3)).toEqual(['10.0.0.2', '10.0.0.2', '10.0.0.2'])
  now.ms = 10_000
  expect(await next(2)).toEqual(['10.0.0.1', '10.0.0.2'])
})

test('when all rest, they are tried nevertheless', async () => {
  const { addresses, next, at } = scene([['10.0.0.1']])
  await next(1)
  for (const _ of [1, 2, 3]) addresses.failed(at('10.0.0.1'))
  expect(await next(1)).toEqual(['10.0.0.1'])
})

test('a resolver that fails: what was known counts on, nothing known is an error', async () => {
  const { now, next } = scene([['10.0.0.1'], new Error('EAI_AGAIN')])
  await next(1)
  now.ms = 30_000
  expect(await next(1)).toEqual(['10.0.0.1'])
  await expect(scene([new Error('ENOTFOUND')]).next(1)).rejects.toThrow('ENOTFOUND')
  await expect(scene([[]]).next(1)).rejects.toThrow('the name has no address')
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '::1'],
])('%s is its own name', async (hostname, ip) => {
  const { next, asked } = scene([], hostname)
  expect(await next(1)).toEqual([ip])
  expect(asked()).toBe(0)
})

test('X-7: who cannot wait goes on with what is known, and it is asked for anew beside', async () => {
  const { now, addresses } = scene([['10.0.0.1'], ['10.0.0.2']])
  expect(addresses.refreshed()).toBeInstanceOf(Promise)
  await addresses.refreshed()
  now.ms = 30_000
  expect(addresses.refreshed()).toBeUndefined()
  expect(addresses.pick().ip).toBe('10.0.0.1')
  await addresses.current()
  expect(addresses.pick().ip).toBe('10.0.0.2')
})

test('what is kept for an address stays as long as the name has it', async () => {
  const { now, addresses, gone } = scene([
    ['10.0.0.1', '10.0.0.2'],
    ['10.0.0.2', '10.0.0.3'],
  ])
  await addresses.current()
  const second = addresses.all[1]
  now.ms = 30_000
  await addresses.current()
  expect(addresses.all.map(({ kept }) => kept)).toEqual(['kept for 10.0.0.2', 'kept for 10.0.0.3'])
  expect(addresses.all[0]).toBe(second)
  expect(gone).toEqual(['kept for 10.0.0.1'])
})
