import type { DomainError, SpamSuspect } from '@penstock/core'
import { refusedUrl, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { captchaCheck } from './captcha-check.ts'

const suspect: SpamSuspect = {
  kind: 'issue',
  title: 'Buy now',
  description: undefined,
  author: { id: 7, username: 'mira', isAdministrator: false, botHome: undefined },
  isPublic: true,
  captchaResponse: undefined,
  address: '192.0.2.7',
  userAgent: undefined,
}

async function verdict(replies: readonly ScriptedReply[], changes: Partial<SpamSuspect>) {
  const server = await ScriptedServer.start(replies)
  const { check, close } = captchaCheck({ siteKey: 'site-1', secret: 'sesame & co', url: `${server.url}/verify` })
  const found = await check({ ...suspect, ...changes }).catch((error: DomainError) => error.failure)
  await close()
  await server.close()
  return { found, sent: server.requests.map(({ method, path, body }) => `${method} ${path} ${Buffer.from(body)}`) }
}

const ok = (body: object): ScriptedReply => ({ play: 'reply', status: 200, body: JSON.stringify(body) })
const unavailable = { code: 'unavailable', retryAfterSeconds: 30 }

test.each<[string, Partial<SpamSuspect>]>([
  ['of a private project', { isPublic: false }],
  ['of a bot', { author: { ...suspect.author, botHome: { projectId: 1, groupId: undefined } } }],
])('accepts a text %s without a request', async (_, changes) => {
  expect(await verdict([], changes)).toEqual({ found: { kind: 'ok' }, sent: [] })
})

test('asks for a CAPTCHA, without a request, if a text has no solution', async () => {
  expect(await verdict([], {})).toEqual({ found: { kind: 'captcha', siteKey: 'site-1' }, sent: [] })
})

test.each([
  [true, { kind: 'ok' }],
  [false, { kind: 'captcha', siteKey: 'site-1' }],
])('verifies a solution: %s', async (success, found) => {
  expect(await verdict([ok({ success })], { captchaResponse: 'a+b' })).toEqual({
    found,
    sent: ['POST /verify secret=sesame+%26+co&response=a%2Bb'],
  })
})

test.each<[string, ScriptedReply]>([
  ['an error', { play: 'reply', status: 500, body: '{"success":true}' }],
  ['a redirect', { play: 'reply', status: 302, headers: { location: '/' }, body: '{"success":true}' }],
  ['no JSON', { play: 'reply', status: 200, body: 'true' }],
  ['another document', ok({ ok: true })],
  ['a reset', { play: 'reset' }],
])('is unavailable if the service replies with %s', async (_, reply) => {
  expect((await verdict([reply], { captchaResponse: 'x' })).found).toEqual(unavailable)
})

test('is unavailable if the service cannot be reached', async () => {
  const { check, close } = captchaCheck({ siteKey: 's', secret: 's', url: await refusedUrl() })
  const found = await check({ ...suspect, captchaResponse: 'x' }).catch((error: DomainError) => error.failure)
  expect(found).toEqual(unavailable)
  await close()
})
