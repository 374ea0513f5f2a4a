import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EndpointError, signalUrls } from './endpoint-url.ts'

const tracesUrl = (baseUrl: string) => signalUrls(baseUrl).traces.href

test.each([
  ['http://localhost:4318', 'http://localhost:4318/v1/traces'],
  ['http://localhost:4318/', 'http://localhost:4318/v1/traces'],
  ['https://example.com/otlp', 'https://example.com/otlp/v1/traces'],
  ['https://example.com/a/b//', 'https://example.com/a/b/v1/traces'],
  ['HTTPS://Example.com', 'https://example.com/v1/traces'],
  ['http://[::1]:4318', 'http://[::1]:4318/v1/traces'],
  ['http://example.com//other.example', 'http://example.com//other.example/v1/traces'],
])('%s → %s', (baseUrl, expected) => {
  expect(tracesUrl(baseUrl)).toBe(expected)
})

test('gives every signal its own path', () => {
  const paths = Object.values(signalUrls('http://host/x')).map((url) => url.pathname)
  expect(paths).toEqual(['/x/v1/traces', '/x/v1/metrics', '/x/v1/logs'])
})

test.each([
  ['', /must be a URL that starts with http/],
  ['localhost:4318', /must be a URL that starts with http/],
  ['grpc://localhost:4317', /must be a URL that starts with http/],
  ['http://', /must be a URL that starts with http/],
  ['https://user:CANARY@example.com', /must not contain a user name or password/],
  ['https://CANARY@example.com', /must not contain a user name or password/],
  ['https://example.com/otlp?key=CANARY', /the endpoint https:\/\/example.com\/otlp must not be followed by/],
  ['https://example.com/#CANARY', /must not be followed by/],
  ['https://example.com/otlp/v1/traces', /use https:\/\/example.com\/otlp$/],
  ['https://example.com/v1/logs/', /use https:\/\/example.com$/],
])('refuses %s', (baseUrl, message) => {
  expect(() => signalUrls(baseUrl)).toThrow(EndpointError)
  expect(() => signalUrls(baseUrl)).toThrow(message)
  expect(() => signalUrls(baseUrl)).not.toThrow(/CANARY/)
})

test('keeps the host of the base URL, whatever its path', () => {
  fc.assert(
    fc.property(fc.webPath(), (path) => {
      for (const url of Object.values(signalUrls(`https://host.example/otlp${path}`))) {
        expect(url.origin).toBe('https://host.example')
      }
    }),
  )
})
