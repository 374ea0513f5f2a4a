import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fixtureBodies, lastRecord, readBody, readRecord } from '../forge-fixtures.harness.ts'
import { OtherHookError } from '../record/record-error.ts'
import { hookRules } from './hook-rules.ts'

test('a hook of newer versions names the server and the repository', () => {
  expect(lastRecord('drone-hook-with-its-system')).toMatchObject({
    unnamed: [],
    url: 'https://drone.example.com/kiln-works/clay/88',
    project: {
      id: 42n,
      name: 'clay',
      path: 'kiln-works/clay',
      webUrl: 'https://git.example.com/kiln-works/clay',
      server: 'drone.example.com',
    },
  })
  expect(lastRecord('drone-hook-without-its-system').unnamed).toEqual(['instanceId'])
  expect(lastRecord('drone-build-of-the-api').unnamed).toEqual(['instanceId', 'project'])
})

test('stages are jobs, and their steps are below them', () => {
  const { jobs } = lastRecord('drone-build-of-the-api')
  expect(jobs.map(({ name, status, runner, queuedSeconds }) => [name, status, runner?.name, queuedSeconds])).toEqual([
    ['amd64', 'success', 'runner-1', 5],
    ['arm64', 'failed', 'runner-2', 9],
    ['publish', 'skipped', undefined, undefined],
  ])
  expect(jobs[0]?.steps?.map(({ name }) => name)).toEqual(['clone', 'test'])
  expect(jobs[1]?.allowFailure).toBe(true)
})

test('a blocked build is not final, a declined one was canceled', () => {
  const [fixture] = fixtureBodies('drone-hook-blocked-then-declined')
  expect(fixture?.bodies.map((body) => readRecord(body).status)).toEqual(['manual', 'canceled'])
})

test('a pull request and a tag', () => {
  expect(lastRecord('drone-hook-of-a-pull-request')).toMatchObject({
    ref: 'wedge-twice',
    mergeRequest: { iid: 9n, title: 'Wedge twice', targetBranch: 'main' },
  })
  expect(lastRecord('drone-hook-of-a-tag-with-an-error')).toMatchObject({
    ref: 'v2.0.0',
    tag: true,
    failureReason: 'error',
  })
})

test('hooks about repositories and users are other hooks', () => {
  for (const body of [
    { action: 'enabled', repo: {} },
    { action: 'created', user: {} },
  ]) {
    expect(() => readBody(body)).toThrow(OtherHookError)
  }
})

describe('signatures over date and digest', () => {
  const body = Buffer.from('{"event":"build"}')
  const credentials = { tokenDigests: [], secretTokens: [Buffer.from('secret-key')], signingKeys: [] }
  const nowMs = Date.UTC(2026, 6, 1, 12)
  const sent = (ageMs = 0, names = 'date digest', of: Buffer = body): Record<string, string> => {
    const date = new Date(nowMs - ageMs).toUTCString()
    const digest = `SHA-256=${createHash('sha256').update(of).digest('base64')}`
    const all: Record<string, string> = { date, digest }
    const content = names.split(' ').map((name) => `${name}: ${all[name]}`)
    const signature = createHmac('sha256', 'secret-key').update(content.join('\n')).digest('base64')
    return {
      ...all,
      signature: `keyId="hmac-key",algorithm="hmac-sha256",signature="${signature}",headers="${names}"`,
    }
  }
  test.each<[string, Record<string, string>, string | undefined]>([
    ['valid', sent(), undefined],
    ['in another order', sent(0, 'digest date'), undefined],
    ['five minutes old', sent(300_000), undefined],
    ['older', sent(301_000), 'timestamp_outside_window'],
    ['over the date alone', sent(0, 'date'), 'signature_missing'],
    ['of another body', sent(0, 'date digest', Buffer.from('{}')), 'signature_wrong'],
    ['with another date', { ...sent(), date: new Date(nowMs + 1_000).toUTCString() }, 'signature_wrong'],
    ['with an unreadable date', { ...sent(), date: 'soon' }, 'timestamp_unreadable'],
    ['without a signature', {}, 'signature_missing'],
  ])('%s', (_, headers, refusal) => {
    const early = hookRules.validateHeaders(credentials, { headers, serviceName: 'x', nowMs })
    expect(early ?? hookRules.validateSignature(credentials, headers, body)).toBe(refusal)
  })
})
