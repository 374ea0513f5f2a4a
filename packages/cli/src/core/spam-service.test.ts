import type { DomainError, SpamSuspect } from '@penstock/core'
import { type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { spamServiceCheck } from './spam-service.ts'

const suspect: SpamSuspect = {
  kind: 'snippet',
  title: 'Buy now',
  description: undefined,
  files: [{ path: 'a.txt', content: 'cheap & good' }],
  author: { id: 7, username: 'mira', isAdministrator: false, botHome: undefined },
  isPublic: true,
  captchaResponse: undefined,
  address: '192.0.2.7',
  userAgent: 'curl/8',
}

async function verdict(replies: readonly ScriptedReply[], changes: Partial<SpamSuspect> = {}, hasCaptcha = false) {
  const server = await ScriptedServer.start(replies)
  const service = { url: `${server.url}/check`, key: 'key-1', site: 'https://svc.example.test' }
  const challenge = { check: async () => ({ kind: 'captcha', siteKey: 's' }) as const, close: async () => {} }
  const { check, close } = spamServiceCheck(service, hasCaptcha ? challenge : undefined)
  const found = await check({ ...suspect, ...changes }).catch((error: DomainError) => error.failure)
  await close()
  await server.close()
  return {
    found,
    sent: server.requests.map(({ body }) => Object.fromEntries(new URLSearchParams(`${Buffer.from(body)}`))),
  }
}

const reply = (body: string, status = 200): ScriptedReply => ({ play: 'reply', status, body })

test('asks the service about a public text', async () => {
  expect(await verdict([reply('false')])).toEqual({
    found: { kind: 'ok' },
    sent: [
      {
        api_key: 'key-1',
        blog: 'https://svc.example.test',
        user_ip: '192.0.2.7',
        user_agent: 'curl/8',
        comment_type: 'comment',
        comment_author: 'mira',
        comment_content: 'Buy now\n\n\n\ncheap & good',
      },
    ],
  })
})

test('refuses spam, or asks for a CAPTCHA if one is configured', async () => {
  expect((await verdict([reply('true')])).found).toEqual({ kind: 'spam' })
  expect((await verdict([reply('true')], {}, true)).found).toEqual({ kind: 'captcha', siteKey: 's' })
})

test.each<[string, Partial<SpamSuspect>]>([
  ['of a private project', { isPublic: false }],
  ['of a bot', { author: { ...suspect.author, botHome: { projectId: 1, groupId: undefined } } }],
])('accepts a text %s without a request', async (_, changes) => {
  expect(await verdict([], changes)).toEqual({ found: { kind: 'ok' }, sent: [] })
})

test.each<[string, ScriptedReply]>([
  ['an invalid key', reply('invalid')],
  ['an error', reply('false', 500)],
  ['a reset', { play: 'reset' }],
])('is unavailable if the service replies with %s', async (_, answer) => {
  expect((await verdict([answer])).found).toEqual({ code: 'unavailable', retryAfterSeconds: 30 })
})
