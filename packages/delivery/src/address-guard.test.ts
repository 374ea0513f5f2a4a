import { networkInterfaces } from 'node:os'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AddressBlocked,
  type AddressPolicy,
  AllowedHostError,
  AllowedHosts,
  blockedBecause,
  guardedLookup,
} from './address-guard.ts'

const strict: AddressPolicy = { allowsLocal: false, deniesOthers: false, allowed: new AllowedHosts([]) }
const why = (addresses: readonly string[], policy: Partial<AddressPolicy> = {}, url = 'https://hooks.example.com/x') =>
  blockedBecause({ ...strict, ...policy }, { url: new URL(url), addresses })

describe('by address', () => {
  test.each([
    ['0.0.0.0', 'Requests to localhost are not allowed'],
    ['::', 'Requests to localhost are not allowed'],
    ['127.0.0.1', 'Requests to loopback addresses are not allowed'],
    ['127.255.255.254', 'Requests to loopback addresses are not allowed'],
    ['::1', 'Requests to loopback addresses are not allowed'],
    ['10.0.0.0', 'Requests to the local network are not allowed'],
    ['172.16.0.1', 'Requests to the local network are not allowed'],
    ['172.31.255.255', 'Requests to the local network are not allowed'],
    ['192.168.1.1', 'Requests to the local network are not allowed'],
    ['fec0::1', 'Requests to the local network are not allowed'],
    ['fd12::1', 'Requests to the local network are not allowed'],
    ['169.254.169.254', 'Requests to the link local network are not allowed'],
    ['fe80::1', 'Requests to the link local network are not allowed'],
    ['100.64.0.1', 'Requests to the shared address space are not allowed'],
    ['255.255.255.255', 'Requests to the limited broadcast address are not allowed'],
    ['::ffff:10.1.2.3', 'Requests to the local network are not allowed'],
    ['::ffff:7f00:1', 'Requests to loopback addresses are not allowed'],
  ])('%s: %s', (address, reason) => {
    expect(why([address])).toBe(reason)
  })

  test.each(['93.184.216.34', '172.32.0.1', '11.0.0.1', '100.128.0.1', '2606:2800:220:1::1', '::ffff:9.9.9.9'])(
    '%s is anybody',
    (address) => {
      expect(why([address])).toBeUndefined()
    },
  )

  test('an address of this machine', () => {
    const own = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ internal }) => !internal)
    if (own === undefined) return
    expect(why([own.address])).toBe('Requests to localhost are not allowed')
  })

  test('one bad one among them is enough', () => {
    expect(why(['93.184.216.34', '10.0.0.1'])).toBe('Requests to the local network are not allowed')
  })
})

describe('by policy', () => {
  test('local ones may be allowed', () => {
    expect(why(['127.0.0.1'], { allowsLocal: true })).toBeUndefined()
  })

  test('everything else may be denied', () => {
    const policy = { deniesOthers: true, allowsLocal: true, allowed: new AllowedHosts(['good.example']) }
    expect(why(['9.9.9.9'], policy)).toBe('Requests to hosts and IP addresses not on the Allow List are denied')
    expect(why(['9.9.9.9'], policy, 'http://good.example')).toBeUndefined()
  })

  test('our own origin may be called, with exactly this port', () => {
    const policy = { ownOrigin: 'http://127.0.0.1:8080' }
    expect(why(['127.0.0.1'], policy, 'http://127.0.0.1:8080/hook')).toBeUndefined()
    expect(why(['127.0.0.1'], policy, 'http://127.0.0.1:8081/hook')).toMatch(/loopback/)
  })

  test('no scheme but http and https', () => {
    expect(why(['9.9.9.9'], {}, 'ftp://files.example')).toBe('Only allowed schemes are http, https')
  })
})

describe('allowed hosts', () => {
  test.each([
    { entry: 'hooks.internal', url: 'http://hooks.internal/', address: '10.0.0.1', isAllowed: true },
    { entry: 'hooks.internal', url: 'http://hooks.internal:8080/', address: '10.0.0.1', isAllowed: true },
    { entry: 'hooks.internal', url: 'http://more.hooks.internal/', address: '10.0.0.1', isAllowed: false },
    { entry: 'hooks.internal:8080', url: 'http://hooks.internal:8080/', address: '10.0.0.1', isAllowed: true },
    { entry: 'hooks.internal:80', url: 'http://hooks.internal/', address: '10.0.0.1', isAllowed: true },
    { entry: 'hooks.internal:8080', url: 'http://hooks.internal:8081/', address: '10.0.0.1', isAllowed: false },
    { entry: 'HOOKS.internal', url: 'http://hooks.INTERNAL/', address: '10.0.0.1', isAllowed: true },
    { entry: '10.0.0.1', url: 'http://a.example/', address: '10.0.0.1', isAllowed: true },
    { entry: '10.0.0.1:443', url: 'https://a.example/', address: '10.0.0.1', isAllowed: true },
    { entry: '10.0.0.1:443', url: 'http://a.example/', address: '10.0.0.1', isAllowed: false },
    { entry: '10.0.0.0/24', url: 'http://a.example/', address: '10.0.0.77', isAllowed: true },
    { entry: '10.0.0.0/24', url: 'http://a.example/', address: '10.0.1.77', isAllowed: false },
    { entry: '::1', url: 'http://[::1]/', address: '::1', isAllowed: true },
    { entry: '[::1]:81', url: 'http://[::1]:81/', address: '::1', isAllowed: true },
    { entry: '[::1]:81', url: 'http://[::1]/', address: '::1', isAllowed: false },
    { entry: 'fd00::/8', url: 'http://a.example/', address: 'fd00::5', isAllowed: true },
  ])('$entry, $url at $address: $isAllowed', ({ entry, url, address, isAllowed }) => {
    expect(why([address], { allowed: new AllowedHosts([entry]) }, url) === undefined).toBe(isAllowed)
  })

  test.each(['', '*.example', 'http://a', 'a b', '10.0.0.0/33', '[::1', 'a:999999', '-a', 'ä.example', '10.0.0.0/8/8'])(
    '%j is refused',
    (entry) => {
      expect(() => new AllowedHosts([entry])).toThrow(AllowedHostError)
    },
  )

  test('any text is an entry or refused, quickly', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (entry) => {
        try {
          new AllowedHosts([entry])
        } catch (error) {
          expect(error).toBeInstanceOf(AllowedHostError)
        }
      }),
    )
  })
})

describe('lookup', () => {
  const resolving = (...addresses: readonly string[]) =>
    ((_: string, __: unknown, done: (error: null, found: object[]) => void) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )) as never
  const looked = (addresses: readonly string[], all: boolean) =>
    new Promise((resolve) =>
      guardedLookup(strict, new URL('http://a.example'), resolving(...addresses))('a.example', { all }, (...answer) =>
        resolve(answer),
      ),
    )

  test('what may be called is what is connected to', async () => {
    expect(await looked(['9.9.9.9', '2620:fe::fe'], true)).toEqual([
      null,
      [
        { address: '9.9.9.9', family: 4 },
        { address: '2620:fe::fe', family: 6 },
      ],
    ])
    expect(await looked(['9.9.9.9', '2620:fe::fe'], false)).toEqual([null, '9.9.9.9', 4])
  })

  test('what may not is an error that says why', async () => {
    const [error] = (await looked(['9.9.9.9', '127.0.0.1'], true)) as [Error]
    expect(error).toBeInstanceOf(AddressBlocked)
    expect(error.message).toBe('URL is blocked: Requests to loopback addresses are not allowed')
  })

  test('a name that cannot be resolved is the resolver’s own error', async () => {
    const failing = ((_: string, __: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))) as never
    const error = await new Promise((resolve) =>
      guardedLookup(strict, new URL('http://a.example'), failing)('a.example', {}, resolve),
    )
    expect(error).toMatchObject({ code: 'ENOTFOUND' })
  })
})
