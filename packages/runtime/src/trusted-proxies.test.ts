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
])('%s contains %s: %s', (entry, address, isTrusted) => {
  expect(new TrustedProxies([entry]).has(address)).toBe(isTrusted)
})

test.each(['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', ''])('rejects %s as an entry', (entry) => {
  expect(() => new TrustedProxies([entry])).toThrow(ProxyAddressError)
})

const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8::/32'])

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
])('with the peer %s and X-Forwarded-For %j, the client is %s', (peer, forwardedFor, client) => {
  expect(proxies.clientOf(peer, forwardedFor)).toBe(client)
})

test('reads only the end of a long X-Forwarded-For', () => {
  expect(proxies.clientOf('10.0.0.1', `192.0.2.7${', 10.0.0.2'.repeat(32)}`)).toBe('10.0.0.2')
})
