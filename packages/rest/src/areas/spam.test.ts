import type { SpamVerdict } from '@penstock/core'
import { expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { issuesArea } from './issues.ts'

test('rejects an issue that is recognized as spam, unless the requested CAPTCHA is solved', async () => {
  const server = await RestServer.start({ areas: [issuesArea] })
  const { world } = server
  const root = await world.user('root', { isAdministrator: true })
  await world.project('app', root)
  const token = await server.tokenOf(root)
  let verdict: SpamVerdict = { kind: 'spam' }
  Object.assign(world.core, {
    spamCheck: async ({ captchaResponse }: { captchaResponse: string | undefined }) =>
      captchaResponse === 'solved' ? { kind: 'ok' } : verdict,
  })
  const send = async (headers: Record<string, string> = {}, more: object = {}) => {
    const json = { title: 'Buy now', ...more }
    const { status, body } = await server.call('POST', 'projects/root%2Fapp/issues', { token, json, headers })
    return { status, body }
  }

  expect(await send()).toEqual({
    status: 400,
    body: { message: { error: 'Your issue has been recognized as spam and has been discarded.' } },
  })
  verdict = { kind: 'captcha', siteKey: 'site-key-1' }
  expect(await send()).toEqual({
    status: 409,
    body: {
      needs_captcha_response: true,
      spam_log_id: 1,
      captcha_site_key: 'site-key-1',
      message: { error: 'Your issue has been recognized as spam. Solve the CAPTCHA and send it again.' },
    },
  })
  // The answer is accepted only in headers.
  const captcha = { response: 'solved', spam_log_id: 1 }
  expect(await send({}, { captcha })).toMatchObject({ status: 409, body: { spam_log_id: 2 } })
  expect(await send({}, { captcha: 'solved' })).toMatchObject({ status: 409, body: { spam_log_id: 3 } })
  const { status, body } = await send({ 'X-Svc-Captcha-Response': 'solved', 'X-Svc-Spam-Log-Id': '1' })
  expect([status, body.iid]).toEqual([201, 1])

  await server.close()
})
