import { expect, test } from 'vitest'
import { ProxyAddressError, TrustedProxies } from './trusted-proxies.ts'

test.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['2001:db8::/32', '2001:db8:1::5', true],
  ['2001:db8::/32', '2001:db9::5', false],
  ['0.0.0.0/0', 'not an address', false],
])('%s and %s: %s', (entry, address, isTrusted) => {
  expect(new TrustedProxies([entry]).has(address)).toBe(isTrusted)
})

test.each(['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', ''])('%s is no network', (entry) => {
  expect(() => new TrustedProxies([entry])).toThrow(ProxyAddressError)
})

const ours = new TrustedProxies(['10.0.0.0/8', '2001:db8::/32'])

test.each([
  ['10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', '198.51.100.1, 192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', '198.51.100.1, 192.0.2.7,10.0.0.2', '192.0.2.7'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['10.0.0.1', '192.0.2.7:4711', '192.0.2.7'],
  ['2001:db8::1', '[2001:db9::7]:4711', '2001:db9::7'],
  ['10.0.0.1', '::ffff:192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', '192.0.2.7, unknown, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', '192.0.2.7, unknown', '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['192.0.2.1', '198.51.100.1', '192.0.2.1'],
])('behind %s, %j is %s', (peer, forwardedFor, client) => {
  expect(ours.clientOf(peer, forwardedFor)).toBe(client)
})

test('however long the chain, only its end is read', () => {
  expect(ours.clientOf('10.0.0.1', `192.0.2.7${', 10.0.0.2'.repeat(32)}`)).toBe('10.0.0.2')
})
