import { expect, test } from 'vitest'
import { type OtlpAddress, otlpUrl } from './otlp-url.ts'

const at = (host: string, changes: Partial<OtlpAddress> = {}): OtlpAddress => ({
  externalUrl: undefined,
  bound: { host, port: 4318 },
  isTls: false,
  ...changes,
})

test.each([
  ['the bound address', at('127.0.0.1'), 'console.example:8081', 'http://127.0.0.1:4318'],
  ['an IPv6 address', at('::1'), undefined, 'http://[::1]:4318'],
  ['HTTPS with a certificate', at('10.0.0.7', { isTls: true }), undefined, 'https://10.0.0.7:4318'],
  ['the host of the caller for every interface', at('0.0.0.0'), 'console.example:8081', 'http://console.example:4318'],
  ['an IPv6 host of the caller', at('::'), '[fd00::7]:8081', 'http://[fd00::7]:4318'],
  ['this machine without a Host header', at('0.0.0.0'), undefined, 'http://localhost:4318'],
  ['this machine for a Host header that is no host', at('::'), 'a b"/x?', 'http://localhost:4318'],
  ['the configured address', at('0.0.0.0', { externalUrl: 'https://otlp.example/' }), 'x', 'https://otlp.example'],
])('is %s', (_case, address, host, url) => {
  expect(otlpUrl(address, host)).toBe(url)
})
