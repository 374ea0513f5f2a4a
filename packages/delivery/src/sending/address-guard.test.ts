import { networkInterfaces } from 'node:os'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { AddressBlocked, type AddressPolicy, findBlockReason, guardedLookup } from './address-guard.ts'
import { AllowedHostError, AllowedHosts } from './allowed-hosts.ts'

const strict: AddressPolicy = { allowsLocal: false, deniesOthers: false, allowed: new AllowedHosts([]) }
const why = (addresses: readonly string[], policy: Partial<AddressPolicy> = {}, url = 'https://hooks.example.com/x') =>
  findBlockReason({ ...strict, ...policy }, { url: new URL(url), addresses })

describe('rules for addresses', () => {
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
    ['0:0:0:0:0:ffff:7f00:0001', 'Requests to loopback addresses are not allowed'],
    ['::127.0.0.1', 'Requests to loopback addresses are not allowed'],
    ['::ffff:0:10.1.2.3', 'Requests to the local network are not allowed'],
    ['64:ff9b::169.254.169.254', 'Requests to the link local network are not allowed'],
    ['64:ff9b:1::10.0.0.1', 'Requests to the local network are not allowed'],
    ['64:ff9b:1:a00:0:100::', 'Requests to the local network are not allowed'],
    ['2002:7f00:1::1', 'Requests to loopback addresses are not allowed'],
    ['2001:0:a00:1::f6f6:f6f6', 'Requests to the local network are not allowed'],
    ['2001:0:909:909::80ff:fffe', 'Requests to loopback addresses are not allowed'],
    ['2606:2800::5efe:10.0.0.1', 'Requests to the local network are not allowed'],
    ['fe80::200:5efe:9.9.9.9', 'Requests to the link local network are not allowed'],
    ['224.0.0.1', 'Requests to reserved addresses are not allowed'],
    ['240.0.0.1', 'Requests to reserved addresses are not allowed'],
    ['0.1.2.3', 'Requests to reserved addresses are not allowed'],
    ['198.18.0.1', 'Requests to reserved addresses are not allowed'],
    ['ff02::1', 'Requests to reserved addresses are not allowed'],
    ['2001:db8::1', 'Requests to reserved addresses are not allowed'],
    ['3fff::1', 'Requests to reserved addresses are not allowed'],
    ['100::1', 'Requests to reserved addresses are not allowed'],
    ['4000::1', 'Requests to reserved addresses are not allowed'],
    ['fe80::1%eth0', 'Requests to the link local network are not allowed'],
    ['no address', 'Hostname or IP address invalid'],
  ])('%s: %s', (address, reason) => {
    expect(why([address])).toBe(reason)
  })

  test.each([
    '93.184.216.34',
    '172.32.0.1',
    '11.0.0.1',
    '100.128.0.1',
    '2606:2800:220:1::1',
    '::ffff:9.9.9.9',
    '64:ff9b::9.9.9.9',
    '64:ff9b:1::9.9.9.9',
    '2002:909:909::1',
  ])('%s is globally reachable', (address) => {
    expect(why([address])).toBeUndefined()
  })

  test('forbids an address of this machine', () => {
    const own = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ internal }) => !internal)
    if (own === undefined) return
    expect(why([own.address])).toBe('Requests to localhost are not allowed')
  })

  test('forbids a destination if one of its addresses is forbidden', () => {
    expect(why(['93.184.216.34', '10.0.0.1'])).toBe('Requests to the local network are not allowed')
  })
})

/** The blocks of IANA's special-purpose registries for IPv4 and IPv6, and multicast. */
const specialBlocks = {
  4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
    ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
    ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32'],
  ],
  6: [
    ...[
      '::/128',
      '::1/128',
      '100::/64',
      '100:0:0:1::/64',
      '2001:1::/32',
      '2001:2::/48',
      '2001:3::/32',
      '2001:4:112::/48',
    ],
    ...['2001:10::/28', '2001:20::/28', '2001:30::/28', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20', '5f00::/16'],
    ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
  ],
} as const

/** Returns the bytes of an address in a block; `dice` fills the free bits. */
function within(cidr: string, dice: Uint8Array): number[] {
  const [start, bits] = ipaddr.parseCIDR(cidr)
  return start.toByteArray().map((byte, index) => {
    const open = Math.min(8, Math.max(0, (index + 1) * 8 - bits))
    return byte | (dice[index]! & (2 ** open - 1))
  })
}
const writtenFrom = (bytes: readonly number[]) => ipaddr.fromByteArray([...bytes]).toString()
const octets = (text: string) => ipaddr.parse(text).toByteArray()

/** Returns every IPv6 form of an IPv4 address; `dice` fills the free bytes. */
const spellings: Readonly<Record<string, (v4: number[], dice: Uint8Array) => number[]>> = {
  'as it is': (v4) => v4,
  'IPv4-mapped': (v4) => [...octets('::ffff:0:0').slice(0, 12), ...v4],
  'IPv4-compatible': (v4) => [...octets('::').slice(0, 12), ...v4],
  'IPv4-translated': (v4) => [...octets('::ffff:0:0:0').slice(0, 12), ...v4],
  NAT64: (v4) => [...octets('64:ff9b::').slice(0, 12), ...v4],
  'local NAT64': (v4, dice) => [
    ...octets('64:ff9b:1::').slice(0, 6),
    ...[...dice.slice(0, 6)].map((byte) => byte | 1),
    ...v4,
  ],
  '6to4': (v4, dice) => [0x20, 0x02, ...v4, ...dice.slice(0, 10)],
  'Teredo client': (v4, dice) => [0x20, 0x01, 0, 0, 9, 9, 9, 9, ...dice.slice(0, 4), ...v4.map((byte) => byte ^ 0xff)],
  'Teredo server': (v4, dice) => [
    0x20,
    0x01,
    0,
    0,
    ...v4,
    ...dice.slice(0, 4),
    ...[9, 9, 9, 9].map((byte) => byte ^ 0xff),
  ],
  ISATAP: (v4) => [...octets('2606:2800:220:1::').slice(0, 8), 2, 0, 0x5e, 0xfe, ...v4],
}
const dice = fc.uint8Array({ minLength: 16, maxLength: 16 })
const globalV4 = fc
  .uint8Array({ minLength: 4, maxLength: 4 })
  .map((bytes) => [...bytes])
  .filter((bytes) => specialBlocks[4].every((cidr) => !new ipaddr.IPv4(bytes).match(ipaddr.IPv4.parseCIDR(cidr))))

describe('every block of the special-purpose registries', () => {
  test.each(Object.keys(spellings))('IPv4, %s: forbids exactly the addresses of the registries', (name) => {
    const spell = spellings[name]!
    const special = fc.tuple(fc.constantFrom(...specialBlocks[4]), dice).map(([cidr, open]) => within(cidr, open))
    fc.assert(
      fc.property(special, dice, (v4, open) => {
        fc.pre(name !== 'IPv4-compatible' || v4.slice(0, 3).some((byte) => byte !== 0))
        expect(why([writtenFrom(spell(v4, open))])).toBeDefined()
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(globalV4, dice, (v4, open) => {
        expect(why([writtenFrom(spell(v4, open))])).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  test('IPv6: forbids them, alone or beside an allowed address', () => {
    fc.assert(
      fc.property(fc.constantFrom(...specialBlocks[6]), dice, fc.boolean(), (cidr, open, isFirst) => {
        const address = writtenFrom(within(cidr, open))
        expect(why([address])).toBeDefined()
        expect(why(isFirst ? [address, '9.9.9.9'] : ['9.9.9.9', address])).toBeDefined()
      }),
      { numRuns: 500 },
    )
  })
})

describe('policies', () => {
  test('allows local addresses by policy', () => {
    expect(why(['127.0.0.1'], { allowsLocal: true })).toBeUndefined()
  })

  test('denies all hosts that are not on the allow list by policy', () => {
    const policy = { deniesOthers: true, allowsLocal: true, allowed: new AllowedHosts(['good.example']) }
    expect(why(['9.9.9.9'], policy)).toBe('Requests to hosts and IP addresses not on the Allow List are denied')
    expect(why(['9.9.9.9'], policy, 'http://good.example')).toBeUndefined()
  })

  test('allows its own origin, only with the same port', () => {
    const policy = { ownOrigin: 'http://127.0.0.1:8080' }
    expect(why(['127.0.0.1'], policy, 'http://127.0.0.1:8080/hook')).toBeUndefined()
    expect(why(['127.0.0.1'], policy, 'http://127.0.0.1:8081/hook')).toMatch(/loopback/)
  })

  test('forbids schemes other than http and https', () => {
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
    { entry: '10.0.0.0/24', url: 'http://a.example/', address: '::ffff:10.0.0.1', isAllowed: true },
    { entry: '::ffff:10.0.0.0/120', url: 'http://a.example/', address: '10.0.0.1', isAllowed: true },
    { entry: '64:ff9b::/96', url: 'http://a.example/', address: '64:ff9b::10.0.0.1', isAllowed: true },
    { entry: '9.9.9.9', url: 'http://a.example/', address: '2001:0:909:909::80ff:fffe', isAllowed: false },
  ])('$entry, $url at $address: $isAllowed', ({ entry, url, address, isAllowed }) => {
    expect(why([address], { allowed: new AllowedHosts([entry]) }, url) === undefined).toBe(isAllowed)
  })

  test('requires all addresses of a name to be allowed', () => {
    const policy = { allowed: new AllowedHosts(['10.0.0.0/24']) }
    expect(why(['10.0.0.1', '10.0.0.2'], policy)).toBeUndefined()
    expect(why(['10.0.0.1', '10.0.1.1'], policy)).toBe('Requests to the local network are not allowed')
    expect(why(['10.0.0.1', '9.9.9.9'], { ...policy, deniesOthers: true })).toMatch(/not on the Allow List/)
    expect(why([], policy)).toBeUndefined()
  })

  test.each(['', '*.example', 'http://a', 'a b', '10.0.0.0/33', '[::1', 'a:999999', '-a', 'ä.example', '10.0.0.0/8/8'])(
    '%j is refused',
    (entry) => {
      expect(() => new AllowedHosts([entry])).toThrow(AllowedHostError)
    },
  )

  test('accepts or refuses any text as an entry, quickly', () => {
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

  test('passes the checked addresses to the connection', async () => {
    expect(await looked(['9.9.9.9', '2620:fe::fe'], true)).toEqual([
      null,
      [
        { address: '9.9.9.9', family: 4 },
        { address: '2620:fe::fe', family: 6 },
      ],
    ])
    expect(await looked(['9.9.9.9', '2620:fe::fe'], false)).toEqual([null, '9.9.9.9', 4])
  })

  test('fails with the reason for a forbidden address', async () => {
    const [error] = (await looked(['9.9.9.9', '127.0.0.1'], true)) as [Error]
    expect(error).toBeInstanceOf(AddressBlocked)
    expect(error.message).toBe('URL is blocked: Requests to loopback addresses are not allowed')
  })

  test('passes on the error of the resolver', async () => {
    const failing = ((_: string, __: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))) as never
    const error = await new Promise((resolve) =>
      guardedLookup(strict, new URL('http://a.example'), failing)('a.example', {}, resolve),
    )
    expect(error).toMatchObject({ code: 'ENOTFOUND' })
  })
})
