import { expect, test } from 'vitest'
import { networkOf, subscriberOf } from './network.ts'

test.each([
  ['192.0.2.7', '192.0.2.0/24'],
  ['10.0.0.255', '10.0.0.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.0/24'],
  ['::FFFF:c000:207', '192.0.2.0/24'],
  ['2001:db8:0:7:1:2:3:4', '2001:db8:0:7::/64'],
  ['2001:0DB8::1', '2001:db8::/64'],
  ['::1', '::/64'],
  ['fe80::1:2%eth0', 'fe80::/64'],
  ['64:ff9b::192.0.2.33', '64:ff9b::/64'],
])('the network of %s is %s', (source, network) => {
  expect(networkOf(source)).toBe(network)
})

test.each([
  '',
  'localhost',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.256',
  '1..2.3',
  ':::',
  '1::2::3',
  '12345::',
  'a:b',
  '/tmp/a.sock',
  `::${'0'.repeat(99)}`,
])('"%s" is not an address', (source) => {
  expect(networkOf(source)).toBe('unknown')
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:db8:0:7:1:2:3:4', '2001:db8:0:7::/64'],
  ['2001:DB8::1', '2001:db8::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['192.0.2.256', 'unknown'],
])('limits count %s as %s', (source, subscriber) => {
  expect(subscriberOf(source)).toBe(subscriber)
})
