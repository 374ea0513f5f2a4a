import { expect, test } from 'vitest'
import { UsageError } from '../process/environment.ts'
import { configuredUpstream, gatewayConfig } from './gateway-settings.ts'
import { readSettings } from './read-settings.ts'

const upstream = { url: 'http://upstream.example:4318' }
const configOf = (env: Readonly<Record<string, string>>) => gatewayConfig(readSettings(undefined, env), upstream)

test('P-1: without settings it listens on both OTLP ports, on loopback, without TLS', () => {
  expect(configOf({}).listeners).toEqual([
    { address: { host: '127.0.0.1', port: 4318 } },
    { address: { host: '127.0.0.1', port: 4317 } },
  ])
})

test('X-13: a certificate applies to every OTLP port and requires its key', () => {
  const tls = { certFile: '/cert.pem', keyFile: '/key.pem' }
  const files = { PENSTOCK_TLS_CERT_FILE: '/cert.pem', PENSTOCK_TLS_KEY_FILE: '/key.pem' }
  expect(configOf(files).listeners.map((listener) => listener.tls)).toEqual([tls, tls])
  const mutual = configOf({ ...files, PENSTOCK_TLS_CLIENT_CA_FILE: '/ca.pem' })
  expect(mutual.listeners[0]!.tls).toEqual({ ...tls, clientCaFile: '/ca.pem' })
  for (const part of [
    { PENSTOCK_TLS_CERT_FILE: 'x' },
    { PENSTOCK_TLS_KEY_FILE: 'x' },
    { PENSTOCK_TLS_CLIENT_CA_FILE: 'x' },
  ]) {
    expect(() => configOf(part)).toThrow(UsageError)
  }
})

test('X-12: the upstream of a tenant has its own credential, and never that of the default upstream', () => {
  const { tenantUpstreams } = gatewayConfig(
    readSettings(undefined, {
      PENSTOCK_TENANT_UPSTREAMS: JSON.stringify({
        blue: 'grpc://blue.example:4317',
        red: { url: 'https://red.example', authorizationFile: '/red', caFile: '/ca.pem' },
      }),
    }),
    { ...upstream, credential: { file: '/credential' }, caFile: '/other.pem' },
  )
  expect(tenantUpstreams).toEqual({
    blue: { url: 'grpc://blue.example:4317' },
    red: { url: 'https://red.example', credential: { file: '/red' }, caFile: '/ca.pem' },
  })
})

test.each([
  '{"a":"ftp://x"}',
  '{"a":{"url":"http://x","colour":"red"}}',
  '{"a":{"authorization":"Bearer secret"}}',
  '{"a":{"url":"http://x","authorization":"secret","authorizationFile":"/f"}}',
  '{"a":1}',
  '[]',
])('X-12: refuses %s without showing the value', (value) => {
  const read = () => readSettings(undefined, { PENSTOCK_TENANT_UPSTREAMS: value })
  expect(read).toThrow(/^PENSTOCK_TENANT_UPSTREAMS must be a JSON object/)
  expect(read).not.toThrow(/secret|colour/)
})

test('coalescing is on by default', () => {
  expect(configOf({}).coalesce).not.toBe('off')
  expect(configOf({ PENSTOCK_COALESCE: 'false' }).coalesce).toBe('off')
})

test('X-9: the credential of the upstream is either a value or a file', () => {
  const of = (env: Readonly<Record<string, string>>) => configuredUpstream(readSettings(undefined, env))
  const url = { PENSTOCK_UPSTREAM: 'http://u.example' }
  expect(of({})).toBeUndefined()
  expect(of(url)).toEqual({ url: 'http://u.example' })
  expect(of({ ...url, PENSTOCK_UPSTREAM_AUTHORIZATION: 'Bearer x' })).toEqual({
    url: 'http://u.example',
    credential: { header: 'Bearer x' },
  })
  expect(
    of({ ...url, PENSTOCK_UPSTREAM_AUTHORIZATION_FILE: '/c', PENSTOCK_UPSTREAM_BODY_LIMIT_BYTES: '2048' }),
  ).toEqual({ url: 'http://u.example', credential: { file: '/c' }, bodyLimitBytes: 2048 })
  const both = { ...url, PENSTOCK_UPSTREAM_AUTHORIZATION: 'secret', PENSTOCK_UPSTREAM_AUTHORIZATION_FILE: '/c' }
  expect(() => of(both)).toThrow(/cannot be combined$/)
  expect(() => of(both)).not.toThrow(/secret/)
})

test.each([
  ['AUTHORIZATION', 'Bearer secret'],
  ['AUTHORIZATION_FILE', '/c'],
  ['CA_FILE', '/ca.pem'],
  ['BODY_LIMIT_BYTES', '2048'],
])('refuses PENSTOCK_UPSTREAM_%s without an upstream', (name, value) => {
  const of = () => configuredUpstream(readSettings(undefined, { [`PENSTOCK_UPSTREAM_${name}`]: value }))
  expect(of).toThrow(UsageError)
  expect(of).toThrow(/^gateway\.upstream\w+ needs gateway\.upstream, which is not set$/)
})

test('T-14: the cached tokens are used for 15 minutes without the SQLite file, and for 24 hours without PostgreSQL', () => {
  const onPostgres = { PENSTOCK_GATEWAY_DATABASE_URL: 'postgres://db.example/gateway' }
  expect(configOf({}).maxStaleMs).toBe(15 * 60_000)
  expect(configOf(onPostgres).maxStaleMs).toBe(24 * 3_600_000)
  expect(configOf({ ...onPostgres, PENSTOCK_MAX_STALE_MS: '60000' }).maxStaleMs).toBe(60_000)
})
