import { expect, test } from 'vitest'
import { findSource, readSources, SourcesError, sourceDestination, sourceScope } from './sources.ts'

const secretToken = 'canary-secret-5d1e77'
const signingToken = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const signals = ['traces']
const instance = { url: 'http://127.0.0.1:4318', encoding: 'protobuf' } as const

function problemsOf(json: unknown): string[] {
  try {
    readSources(json)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(SourcesError)
    return (error as SourcesError).message.split('\n')
  }
}

test('reads a source with every key', () => {
  const sources = readSources({
    'git.example.com': {
      secretToken: [secretToken, 'another-one'],
      signingToken,
      endpoint: 'https://otel.example.com/otlp',
      token: 'psin_1',
      signals: ['logs', 'traces', 'logs'],
      options: { user: 'omit', profile: 'native' },
      instanceId: 'ours',
      project: 'kiln-works/shelf',
      encoding: 'json',
    },
  })
  const source = sources.get('git.example.com')!
  expect(source).toMatchObject({
    name: 'git.example.com',
    signals: ['traces', 'logs'],
    options: { user: 'omit', profile: 'native', instanceId: 'ours', project: 'kiln-works/shelf' },
  })
  expect(source.credentials.signingKeys).toEqual([Buffer.from(Array.from({ length: 32 }, (_, byte) => byte))])
  expect(source.credentials.tokenDigests).toHaveLength(2)
  expect(sourceDestination(sources, sourceScope(source), instance)).toEqual({
    url: 'https://otel.example.com/otlp',
    token: 'psin_1',
    encoding: 'json',
  })
})

test('a source without an endpoint exports to that of the instance, with its own token', () => {
  const sources = readSources({ a: { secretToken, signals, token: 'psin_1' }, b: { secretToken, signals } })
  expect(sourceDestination(sources, 'source:a', instance)).toEqual({ ...instance, token: 'psin_1' })
  expect(sourceDestination(sources, 'source:b', instance)).toEqual({ ...instance, token: undefined })
})

test('headers of the installation go to its endpoint alone, and headers of a source replace them', () => {
  const headers = { 'x-key': 'canary' }
  const withHeaders = { ...instance, headers }
  const sources = readSources({
    plain: { secretToken, signals },
    own: { secretToken, signals, headers: { 'X-Key': 'mine' } },
    elsewhere: { secretToken, signals, endpoint: 'https://other.example' },
    token: { secretToken, signals, token: 'psin_1' },
  })
  const sent = (name: string) => sourceDestination(sources, `source:${name}`, withHeaders)
  expect(sent('plain')).toMatchObject({ headers })
  expect(sent('own')).toMatchObject({ headers: { 'x-key': 'mine' } })
  expect(sent('elsewhere')).toMatchObject({ headers: undefined })
  expect(sent('token')).toMatchObject({ headers: undefined, token: 'psin_1' })
})

test('returns the reason for a scope without a source', () => {
  const sources = readSources({ a: { secretToken, signals } })
  expect(sourceDestination(sources, 'source:gone', instance)).toBe('the settings do not contain source:gone any more')
  expect(findSource(sources, 'project:a')).toBeUndefined()
  expect(findSource(sources, 'a')).toBeUndefined()
})

test.each([
  ['no credential', { signals }, 'source a: needs a secretToken or a signingToken'],
  [
    'a signing token for a forge that has none',
    { forge: 'github', signingToken: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', signals },
    'source a: hooks of github have no signingToken; use a secretToken',
  ],
  ['no credential among several', { secretToken: [], signals }, 'source a: secretToken must have at least one item'],
  ['no signals', { secretToken }, 'source a: signals is missing'],
  ['an empty list of signals', { secretToken, signals: [] }, 'source a: signals must have at least one item'],
  ['signals that are no list', { secretToken, signals: 'traces' }, 'source a: signals must be a list'],
  [
    'an unknown signal',
    { secretToken, signals: ['spans'] },
    'source a: signals[0] must be one of traces, metrics, logs',
  ],
  [
    'a wrong header',
    { secretToken, signals, headers: { host: 'x' } },
    'source a: headers: the header host is set by the request itself',
  ],
  [
    'two credentials',
    { secretToken, signals, token: 'psin_1', headers: { Authorization: 'Basic x' } },
    'source a: a token and the header authorization are set; use one of them',
  ],
  ['an unknown key', { secretToken, signals, tokn: 'x' }, 'source a: unknown key "tokn"'],
  ['a short secret', { secretToken: '1234567', signals }, 'source a: secretToken must have at least 8 characters'],
  [
    'a long secret',
    { secretToken: 'x'.repeat(513), signals },
    'source a: secretToken must have at most 512 characters',
  ],
  [
    'nine secrets',
    { secretToken: Array(9).fill(secretToken), signals },
    'source a: secretToken must have at most 8 items',
  ],
  ['a secret that is no text', { secretToken: 12_345_678, signals }, 'source a: secretToken must be text'],
  ['options that are no object', { secretToken, signals, options: [] }, 'source a: options must be an object'],
  [
    'a secret with a line break',
    { secretToken: 'secret-token\n', signals },
    'source a: secretToken must have no control characters, and no blanks at either end',
  ],
  [
    'a signing token without its prefix',
    { signingToken: signingToken.slice(6), signals },
    'source a: signingToken must be whsec_ followed by the base64 of 24 to 64 bytes',
  ],
  [
    'a signing key of 23 bytes',
    { signingToken: `whsec_${Buffer.alloc(23).toString('base64')}`, signals },
    'source a: signingToken must be whsec_ followed by the base64 of 24 to 64 bytes',
  ],
  [
    'the second of two signing tokens',
    { signingToken: [signingToken, 'whsec_no-base64'], signals },
    'source a: signingToken[1] must be whsec_ followed by the base64 of 24 to 64 bytes',
  ],
  [
    'an endpoint that is no URL',
    { secretToken, signals, endpoint: 'otel.example.com' },
    'source a: endpoint: the endpoint must be a URL that starts with http:// or https://',
  ],
  [
    'a token with a blank',
    { secretToken, signals, token: 'a b' },
    'source a: token must be printable characters without blanks',
  ],
  [
    'an unknown option',
    { secretToken, signals, options: { nope: 1 } },
    'source a: options: option nope: no such option',
  ],
  [
    'an option of the installation',
    { secretToken, signals, options: { providerName: 'x' } },
    'source a: options: option providerName: can be set for the whole installation only',
  ],
  [
    'running totals',
    { secretToken, signals, options: { metricsMode: 'cumulative' } },
    'source a: options: option metricsMode: sources support per-run only',
  ],
  [
    'two instance ids',
    { secretToken, signals, instanceId: 'x', options: { instanceId: 'y' } },
    'source a: instanceId is set twice: beside the options and among them',
  ],
  [
    'two projects',
    { secretToken, signals, project: 'x', options: { project: 'y' } },
    'source a: project is set twice: beside the options and among them',
  ],
  ['no object', 'canary-secret-5d1e77', 'source a: must be an object'],
])('refuses %s', (_, source, problem) => {
  const problems = problemsOf({ a: source })
  expect(problems).toEqual([problem])
})

test.each(['', 'a b', '../a', 'é', '-a', 'a'.repeat(65), '__proto__'])('refuses the name %j', (name) => {
  const json = JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify({ secretToken, signals })}}`)
  expect(problemsOf(json)).toEqual([
    `source ${JSON.stringify(name.slice(0, 64))}: a name has 1 to 64 letters, digits, dots, - and _, and begins with a letter or digit`,
  ])
})

test('reports all problems of a source together', () => {
  const options = { nope: 1, providerName: 'x', user: 'some', metricsMode: 'windowed', instanceId: 'y' }
  expect(problemsOf({ 'a b': { tokn: 'x', encoding: 'xml', instanceId: 'x', options } })).toEqual(
    [
      'a name has 1 to 64 letters, digits, dots, - and _, and begins with a letter or digit',
      'signals is missing',
      'options: option nope: no such option',
      'options: option providerName: can be set for the whole installation only',
      'options: option user: must be one of include, hash, omit',
      'options: option metricsMode: sources support per-run only',
      'encoding must be one of protobuf, json',
      'unknown key "tokn"',
      'needs a secretToken or a signingToken',
      'instanceId is set twice: beside the options and among them',
    ].map((problem) => `source "a b": ${problem}`),
  )
})

test('lists a hundred problems, and the number of further ones', () => {
  const names = Array.from({ length: 130 }, (_, at) => `s${at}`)
  const problems = problemsOf(Object.fromEntries(names.map((name) => [name, { secretToken }])))
  expect(problems).toHaveLength(101)
  expect(problems.slice(-2)).toEqual(['source s99: signals is missing', 'and 30 more'])
})

test.each([null, [], 'text', 1, undefined])('refuses %j instead of an object', (json) => {
  expect(problemsOf(json)).toEqual(['the sources must be an object, with one property per source'])
})

test('reports every problem, and quotes no credential', () => {
  const canary = 'canary-secret-5d1e77'
  const problems = problemsOf({
    a: { secretToken: `${canary}\t`, signingToken: [canary, `whsec_${canary}`], signals, token: `${canary} x` },
    b: { secretToken: { [canary]: canary }, signals: [canary], endpoint: `https://u:${canary}@example.com` },
    c: { secretToken: canary, signals, options: { user: canary }, encoding: canary, instanceId: 1 },
  })
  expect(problems.length).toBeGreaterThan(8)
  expect(problems.join('\n')).not.toContain(canary)
})

test('the time to settle is a whole number of milliseconds', () => {
  const sources = readSources({ a: { secretToken, signals, settleSeconds: 1.001 } })
  expect(sources.get('a')?.settleMs).toBe(1_001)
})

test('a secret token of Azure is a user name and a password', () => {
  const azure = { forge: 'azure', signals }
  const problem = 'source a: the secretToken of azure must be user:password'
  expect(problemsOf({ a: { ...azure, secretToken } })).toEqual([problem])
  expect(problemsOf({ a: { ...azure, secretToken: ['kiln:secret-5d1e77', secretToken] } })).toEqual([problem])
  expect(problemsOf({ a: { ...azure, secretToken: 'kiln:secret-5d1e77' } })).toEqual([])
})
