import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../process/environment.ts'
import { exportConfig, gatewayUrl } from './export-config.ts'
import { readSettings } from './read-settings.ts'

const configOf = (env: Readonly<Record<string, string>>) => exportConfig(readSettings(undefined, env))

const sources = {
  forge: {
    secretToken: 'the-secret-of-the-forge',
    signals: ['traces'],
    options: { environment: 'staging' },
    instanceId: 'forge',
  },
}

function file(name: string, content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-sources-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}

test('without settings, names the service after the installation and uses the defaults of the converter', () => {
  const options = configOf({ PENSTOCK_SERVICE_NAME: 'gitlab' }).optionsForScope('project:1')
  expect(options).toMatchObject({
    resourceServiceName: 'gitlab-ci',
    vendorNamespace: 'gitlab',
    providerName: 'gitlab',
    environment: 'production',
    reexport: 'none',
    metricsMode: 'per-run',
  })
})

test('returns one options object per scope; options of a source override those of the instance', () => {
  const config = configOf({
    PENSTOCK_SOURCES: file('sources.json', JSON.stringify(sources)),
    PENSTOCK_EXPORT_OPTIONS: '{"user":"hash"}',
  })
  expect(config.optionsForScope('project:1')).toBe(config.optionsForScope('project:2'))
  expect(config.optionsForScope('source:forge')).toBe(config.optionsForScope('source:forge'))
  expect(config.optionsForScope('project:1')).toMatchObject({
    user: 'hash',
    environment: 'production',
    instanceId: undefined,
  })
  expect(config.optionsForScope('source:forge')).toMatchObject({
    user: 'hash',
    environment: 'staging',
    instanceId: 'forge',
    resourceServiceName: 'svc-ci',
  })
})

test('reads sources from the settings file', () => {
  const settings = readSettings(file('settings.json', JSON.stringify({ exporter: { sources } })), {})
  expect([...exportConfig(settings).sources.keys()]).toEqual(['forge'])
})

test('the lease outlasts an attempt with a long timeout', () => {
  const { limits } = configOf({ PENSTOCK_EXPORT_TIMEOUT_SECONDS: '300', PENSTOCK_EXPORT_CONCURRENCY: '2' })
  expect(limits.leaseMs).toBeGreaterThanOrEqual(limits.budgetMs + 600_000)
  expect(limits).toMatchObject({ attemptTimeoutMs: 300_000, concurrency: 2, laneConcurrency: 2 })
})

describe('an invalid setting is reported in one line without its value', () => {
  const secret = 'the-secret-that-must-stay-hidden'
  test.each([
    [
      { PENSTOCK_EXPORT_OPTIONS: '{"commitMessage":"some"}' },
      /^exporter.options: option commitMessage: must be one of/,
    ],
    [{ PENSTOCK_EXPORT_OPTIONS: '{"nothing":1}' }, 'exporter.options: option nothing: no such option'],
    [
      { PENSTOCK_EXPORT_OPTIONS: '{"environment":"x"}' },
      'exporter.options must not contain environment; use the setting exporter.environment',
    ],
    [{ PENSTOCK_EXPORT_OPTIONS: '{"metricsMode":"windowed"}' }, /services support per-run only$/],
    [{ PENSTOCK_EXPORT_OPTIONS: '[]' }, 'PENSTOCK_EXPORT_OPTIONS must be a JSON object'],
    [{ PENSTOCK_EXPORT_ENDPOINT: 'ftp://x' }, /^PENSTOCK_EXPORT_ENDPOINT must be a URL/],
    [
      { PENSTOCK_SOURCES: '/nowhere/sources.json' },
      /^exporter\.sources \(PENSTOCK_SOURCES\): \/nowhere\/sources\.json cannot be read: no such file or directory$/,
    ],
    [
      { PENSTOCK_SOURCES: secret },
      /: the file \(its name is shown only if it ends in \.json\) cannot be read: no such file/,
    ],
    [{ PENSTOCK_SOURCES: `"${secret}": "sources.json` }, /: the file \(its name/],
    [
      { PENSTOCK_SOURCES: `{\n  "forge": ${secret}` },
      'exporter.sources (PENSTOCK_SOURCES) is not valid JSON at line 2, column 13',
    ],
    [{ PENSTOCK_SOURCES: `["${secret}"]` }, /the sources must be an object/],
    [
      { PENSTOCK_SOURCES: `{"forge":{"secretTokn":"${secret}"}}` },
      /^exporter\.sources \(PENSTOCK_SOURCES\): source forge: signals is missing; .+: unknown key "secretTokn"; .+ needs a/,
    ],
  ])('%j', (env, about) => {
    const failure = (() => {
      try {
        return configOf(env)
      } catch (error) {
        return error as Error
      }
    })()
    expect(failure).toBeInstanceOf(UsageError)
    expect((failure as Error).message).toMatch(about)
    expect((failure as Error).message).not.toContain(secret)
  })
})

test('names the file and the position of a syntax error', () => {
  const path = file('sources.json', '{\n  "forge": {,}\n}')
  expect(() => configOf({ PENSTOCK_SOURCES: path })).toThrow(
    new UsageError(`exporter.sources (PENSTOCK_SOURCES): ${path} is not valid JSON at line 2, column 13`),
  )
})

test.each([
  [{}, undefined, 'http://127.0.0.1:4318'],
  [{ PENSTOCK_OTLP_HTTP_LISTEN: '0.0.0.0:14318' }, undefined, 'http://127.0.0.1:14318'],
  [{ PENSTOCK_OTLP_HTTP_LISTEN: '[::]:14318,127.0.0.1:1' }, undefined, 'http://[::1]:14318'],
  [{ PENSTOCK_OTLP_HTTP_LISTEN: '127.0.0.1:0' }, { host: '127.0.0.1', port: 5 }, 'http://127.0.0.1:5'],
  [{ PENSTOCK_TLS_CERT_FILE: 'c', PENSTOCK_TLS_KEY_FILE: 'k' }, undefined, 'https://127.0.0.1:4318'],
])('the URL of the gateway for %j, bound to %j, is %s', (env, bound, url) => {
  expect(gatewayUrl(readSettings(undefined, env), bound)).toBe(url)
})
