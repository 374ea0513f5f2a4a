import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPersonalToken, type SpamVerdict } from '@penstock/core'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { restListener } from '../server/serve-rest.ts'
import { issuesArea } from './issues.ts'

test('rejects an issue that is recognized as spam, unless the requested CAPTCHA is solved', async () => {
  const world = await World.open()
  const root = await world.user('root', { isAdministrator: true })
  await world.project('app', root)
  const { value: token } = await world.perform(root, createPersonalToken, {
    userId: root.id,
    name: 'test',
    scopes: ['api'],
  })
  let verdict: SpamVerdict = { kind: 'spam' }
  Object.assign(world.core, {
    spamCheck: async ({ captchaResponse }: { captchaResponse: string | undefined }) =>
      captchaResponse === 'solved' ? { kind: 'ok' } : verdict,
  })
  const server = createServer(restListener({ core: world.core, areas: [issuesArea], log: silentLog }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const send = async (headers: Record<string, string> = {}, more: object = {}) => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v4/projects/root%2Fapp/issues`, {
      method: 'POST',
      headers: { 'private-token': token, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ title: 'Buy now', ...more }),
    })
    return { status: reply.status, body: (await reply.json()) as { iid?: number } }
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

  await new Promise((resolve) => server.close(resolve).closeAllConnections())
  await world.close()
})
