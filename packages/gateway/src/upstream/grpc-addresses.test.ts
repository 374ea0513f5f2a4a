import { expect, test } from 'vitest'
import { GrpcAddresses } from './grpc-addresses.ts'

function scene(answers: readonly (readonly string[] | Error)[]) {
  const now = { ms: 0 }
  let asked = 0
  const addresses = new GrpcAddresses(
    'upstream.test',
    () => now.ms,
    () => {
      const answer = answers[asked++] ?? new Error('the script is over')
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  )
  return { now, addresses, next: (count: number) => takes(addresses, count), asked: () => asked }
}

async function takes(addresses: GrpcAddresses, count: number): Promise<string[]> {
  const taken: string[] = []
  for (let i = 0; i < count; i++) taken.push(await addresses.next())
  return taken.toSorted()
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
  const { now, addresses, next } = scene([['10.0.0.1', '10.0.0.2']])
  await next(1)
  for (const _ of [1, 2]) addresses.failed('10.0.0.1')
  addresses.connected('10.0.0.1')
  addresses.failed('10.0.0.1')
  expect(await next(2)).toEqual(['10.0.0.1', '10.0.0.2'])
  for (const _ of [1, 2]) addresses.failed('10.0.0.1')
  expect(await next(3)).toEqual(['10.0.0.2', '10.0.0.2', '10.0.0.2'])
  now.ms = 10_000
  expect(await next(2)).toEqual(['10.0.0.1', '10.0.0.2'])
})

test('when all rest, they are tried nevertheless', async () => {
  const { addresses, next } = scene([['10.0.0.1']])
  await next(1)
  for (const _ of [1, 2, 3]) addresses.failed('10.0.0.1')
  expect(await next(1)).toEqual(['10.0.0.1'])
})

test('a resolver that fails: what was known counts on, nothing known is an error', async () => {
  const { now, next } = scene([['10.0.0.1'], new Error('EAI_AGAIN')])
  await next(1)
  now.ms = 30_000
  expect(await next(1)).toEqual(['10.0.0.1'])
  await expect(scene([new Error('ENOTFOUND')]).addresses.next()).rejects.toThrow('ENOTFOUND')
})

test('an address is its own name', async () => {
  const addresses = new GrpcAddresses(
    '127.0.0.1',
    () => 0,
    () => Promise.reject(new Error('never asked')),
  )
  expect(await addresses.next()).toBe('127.0.0.1')
})
