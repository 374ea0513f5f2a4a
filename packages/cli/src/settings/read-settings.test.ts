import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { configuredUpstream } from './gateway-settings.ts'
import { readSettings } from './read-settings.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'penstock-settings-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function fileOf(content: unknown): string {
  const file = join(directory, 'settings.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

test('without a file and variables, every setting has its default', () => {
  const settings = readSettings(undefined, {})
  expect(settings['gateway.http']).toEqual([{ host: '127.0.0.1', port: 4318 }])
  expect(settings['observability.listen']).toEqual({ host: '127.0.0.1', port: 8081 })
  expect(settings['gateway.coalesce']).toBe(true)
  expect(settings['gateway.upstream']).toBeUndefined()
})

test('variables override the file, and the command line overrides both', () => {
  const file = fileOf({ gateway: { upstream: 'http://file.example', maxBodyBytes: 2048 }, dataDir: 'from-file' })
  const settings = readSettings(file, { PENSTOCK_UPSTREAM: 'grpc://variable.example:4317' }, { dataDir: 'typed' })
  expect(settings['gateway.upstream']).toBe('grpc://variable.example:4317')
  expect(settings['gateway.maxBodyBytes']).toBe(2048)
  expect(settings.dataDir).toBe('typed')
})

test('a secret can be in a file that a variable names, without the line break at its end', () => {
  const file = join(directory, 'key')
  writeFileSync(file, 'the-key-of-this-very-test\n')
  expect(readSettings(undefined, { PENSTOCK_OBS_API_KEY_FILE: file }).obsApiKey).toBe('the-key-of-this-very-test')
  const inFile = fileOf({ obsApiKey: 'another-key-of-this-test' })
  expect(readSettings(inFile, { PENSTOCK_OBS_API_KEY_FILE: file }).obsApiKey).toBe('the-key-of-this-very-test')
  expect(readSettings(undefined, { PENSTOCK_OBS_API_KEY_FILE: '' }).obsApiKey).toBeUndefined()
})

test('a file with a secret that is missing, too long, invalid or given twice is refused, without its content', () => {
  const file = join(directory, 'token')
  const reading = (env: Record<string, string>) => () => readSettings(undefined, env)
  const named = { PENSTOCK_ROOT_TOKEN_FILE: file }
  expect(reading(named)).toThrow(`cannot read ${file}: `)
  writeFileSync(file, 'short\n')
  expect(reading(named)).toThrow('the content of PENSTOCK_ROOT_TOKEN_FILE must be 20 to 256 printable characters')
  expect(reading({ ...named, PENSTOCK_ROOT_TOKEN: 'x'.repeat(20) })).toThrow(
    'PENSTOCK_ROOT_TOKEN and PENSTOCK_ROOT_TOKEN_FILE must not both be set',
  )
  writeFileSync(file, 'x'.repeat(65_537))
  expect(reading(named)).toThrow(`${file} is too long for a secret`)
})

test('only secrets can be in files, and a variable that is a setting keeps its meaning', () => {
  expect(() => readSettings(undefined, { PENSTOCK_CORE_LISTEN_FILE: '/x' })).toThrow('unknown setting')
  const settings = readSettings(undefined, { PENSTOCK_UPSTREAM_AUTHORIZATION_FILE: '/x' })
  expect(settings['gateway.upstreamAuthorizationFile']).toBe('/x')
  expect(settings['gateway.upstreamAuthorization']).toBeUndefined()
})

test('other defaults give way to the file, variables and the command line', () => {
  const defaults = { 'observability.retentionHours': '8784' }
  const retention = (content: object, env: Record<string, string>) =>
    readSettings(fileOf(content), env, {}, defaults)['observability.retentionHours']
  expect(retention({}, {})).toBe(8784)
  expect(retention({ observability: { retentionHours: 24 } }, {})).toBe(24)
  expect(retention({}, { PENSTOCK_OBSERVE_RETENTION_HOURS: '48' })).toBe(48)
})

test('accepts nested and dotted keys, JSON lists and JSON objects', () => {
  const settings = readSettings(
    fileOf({
      'gateway.allowedOrigins': ['https://a.example', 'https://*.b.example'],
      gateway: { grpc: '[::1]:14317,127.0.0.1:14317', tenantUpstreams: { blue: 'https://blue.example' } },
    }),
    {},
  )
  expect(settings['gateway.allowedOrigins']).toEqual(['https://a.example', 'https://*.b.example'])
  expect(settings['gateway.grpc']).toEqual([
    { host: '::1', port: 14317 },
    { host: '127.0.0.1', port: 14317 },
  ])
  expect(settings['gateway.tenantUpstreams']).toEqual({ blue: { url: 'https://blue.example' } })
})

describe('an invalid setting is reported in one line without its value', () => {
  test.each([
    [
      {},
      { PENSTOCK_OTLP_HTTP_LISTEN: '4318' },
      'PENSTOCK_OTLP_HTTP_LISTEN must be a comma-separated list of host:port',
    ],
    [{}, { PENSTOCK_UPSTREAM: 'ftp://x' }, /^PENSTOCK_UPSTREAM must be a URL that starts with http:/],
    [{}, { PENSTOCK_UPSTREAM: 'http://user:secret@x' }, /without user name/],
    [{}, { PENSTOCK_UPSTREM: 'http://x' }, 'unknown setting PENSTOCK_UPSTREM'],
    [
      {},
      { PENSTOCK_OBS_TRUSTED_PROXIES: '10.0.0.0/8,proxy.example' },
      /^PENSTOCK_OBS_TRUSTED_PROXIES must be a comma-sep/,
    ],
    [{ gateway: { colour: 'blue' } }, {}, 'unknown setting "gateway.colour" in the settings file'],
    [{ gateway: { coalesce: 'yes' } }, {}, 'gateway.coalesce in the settings file must be true or false'],
    [{ gateway: { maxBodyBytes: -1 } }, {}, /^gateway.maxBodyBytes in the settings file must be a whole number from/],
    ['[', {}, /is not JSON$/],
    [[], {}, 'the settings file must contain a JSON object'],
  ])('%j %j', (content, env, message) => {
    const attempt = () => readSettings(fileOf(content), env as Record<string, string>)
    expect(attempt).toThrow(message)
    expect(attempt).not.toThrow(/secret/)
  })
})

test('the address of ClickHouse needs an upstream, and no error shows its password', () => {
  const settings = readSettings(undefined, { PENSTOCK_OBSERVE_URL: 'http://reader:hidden@ch.example:8123/otel' })
  expect(() => configuredUpstream(settings)).toThrow('observe.url needs gateway.upstream, which is not set')
  const views = readSettings(undefined, { PENSTOCK_OBSERVE_CREATE_VIEWS: 'true' })
  expect(() => configuredUpstream(views)).toThrow('observe.createViews needs observe.url, which is not set')
  const wrong = { PENSTOCK_OBSERVE_URL: 'postgres://reader:hidden@ch.example/otel' }
  expect(() => readSettings(undefined, wrong)).toThrow(/PENSTOCK_OBSERVE_URL/)
  expect(() => readSettings(undefined, wrong)).not.toThrow(/hidden/)
})
