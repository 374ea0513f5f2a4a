import { systemClock } from '@penstock/runtime'
import { expect, test } from 'vitest'
import { Addresses, type Resolve } from './addresses.ts'

function scene(answers: readonly (readonly string[] | Error)[], hostname = 'upstream.test') {
  const now = { ms: 0 }
  let asked = 0
  const closed: string[] = []
  const resolve: Resolve = () => {
    const answer = answers[asked++] ?? new Error('no more answers')
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const addresses = new Addresses<string>({
    hostname,
    clock: { ...systemClock, monotonicMs: () => now.ms },
    resolve,
    open: (ip) => `resource of ${ip}`,
    close: (resource) => closed.push(resource),
  })
  const take = async () => {
    await addresses.refresh()
    return addresses.pick()
  }
  const next = async (count: number) => {
    const taken: string[] = []
    for (let i = 0; i < count; i++) taken.push((await take()).ip)
    return taken.toSorted()
  }
  const at = (ip: string) => addresses.all.find((address) => address.ip === ip)!
  return { now, addresses, next, at, closed, asked: () => asked }
}

test('X-7: returns all addresses in turn, and resolves the name again after 30 s', async () => {
  const { now, next, asked } = scene([['10.0.0.1', '10.0.0.2'], ['10.0.0.3']])
  expect(await next(4)).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'])
  now.ms = 29_999
  expect(await next(1)).not.toEqual(['10.0.0.3'])
  now.ms = 30_000
  expect(await next(2)).toEqual(['10.0.0.3', '10.0.0.3'])
  expect(asked()).toBe(2)
})

test('X-7: avoids an address for 10 s after three consecutive failures', async () => {
  const { now, addresses, next, at } = scene([['10.0.0.1', '10.0.0.2']])
  await next(1)
  for (const _ of [1, 2]) addresses.markFailed(at('10.0.0.1'))
  at('10.0.0.1').failures = 0
  addresses.markFailed(at('10.0.0.1'))
  expect(await next(2)).toEqual(['10.0.0.1', '10.0.0.2'])
  for (const _ of [1, 2]) addresses.markFailed(at('10.0.0.1'))
  expect(await next(3)).toEqual(['10.0.0.2', '10.0.0.2', '10.0.0.2'])
  now.ms = 10_000
  expect(await next(2)).toEqual(['10.0.0.1', '10.0.0.2'])
})

test('returns an avoided address if all are avoided', async () => {
  const { addresses, next, at } = scene([['10.0.0.1']])
  await next(1)
  for (const _ of [1, 2, 3]) addresses.markFailed(at('10.0.0.1'))
  expect(await next(1)).toEqual(['10.0.0.1'])
})

test('keeps the known addresses if resolving fails, and rejects if none are known', async () => {
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
])('does not resolve the IP address %s', async (hostname, ip) => {
  const { next, asked } = scene([], hostname)
  expect(await next(1)).toEqual([ip])
  expect(asked()).toBe(0)
})

test('X-7: returns known addresses at once and resolves the name in the background', async () => {
  const { now, addresses } = scene([['10.0.0.1'], ['10.0.0.2']])
  expect(addresses.refreshInBackground()).toBeInstanceOf(Promise)
  await addresses.refreshInBackground()
  now.ms = 30_000
  expect(addresses.refreshInBackground()).toBeUndefined()
  expect(addresses.pick().ip).toBe('10.0.0.1')
  await addresses.refresh()
  expect(addresses.pick().ip).toBe('10.0.0.2')
})

test('keeps the resource of an address until the name no longer has it', async () => {
  const { now, addresses, closed } = scene([
    ['10.0.0.1', '10.0.0.2'],
    ['10.0.0.2', '10.0.0.3'],
  ])
  await addresses.refresh()
  const second = addresses.all[1]
  now.ms = 30_000
  await addresses.refresh()
  expect(addresses.all.map(({ resource }) => resource)).toEqual(['resource of 10.0.0.2', 'resource of 10.0.0.3'])
  expect(addresses.all[0]).toBe(second)
  expect(closed).toEqual(['resource of 10.0.0.1'])
})
