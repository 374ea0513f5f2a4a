import { createIssue, testHook } from '@penstock/core'
import { refusedUrl, ScriptedServer } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const failureOf = (error: { readonly failure: unknown }) => error.failure
const check = (hooks: HookWorld, hookId: number) =>
  hooks.perform(testHook, { hookId, trigger: 'resource_access_token_events' }).catch(failureOf)

describe('redirects', () => {
  test('are followed up to five times; the method changes as for browsers', async () => {
    const hooks = await HookWorld.open(({ path }) => {
      const left = Number(path.split('/').at(-1))
      const status = path.includes('keep') ? 307 : 302
      return left > 0
        ? { play: 'reply', status, headers: { location: path.replace(/\d+$/, String(left - 1)) } }
        : { play: 'reply', status: 200 }
    })
    const to = async (path: string) => (await hooks.hook({ url: hooks.receiver.url + path })).id
    expect(await check(hooks, await to('/5'))).toEqual({ message: '201 Created' })
    expect(hooks.receiver.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET', 'GET', 'GET'])
    expect(await check(hooks, await to('/keep/1'))).toEqual({ message: '201 Created' })
    expect(hooks.receiver.requests.at(-1)).toMatchObject({ method: 'POST' })
    expect(hooks.receiver.requests.at(-1)!.body.length).toBeGreaterThan(0)
    expect(await check(hooks, await to('/6'))).toEqual({ code: 'impossible', message: 'too many redirects' })
  })

  test('to another host get no secrets', async () => {
    const other = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
    onTestFinished(() => other.close())
    const hooks = await HookWorld.open(() => ({ play: 'reply', status: 307, headers: { location: other.url } }))
    const pairs = { customHeaders: [{ key: 'X-Team', value: 'secret' }], token: 'secret' }
    const { id } = await hooks.hook({ url: hooks.receiver.url.replace('//', '//u:p@'), ...pairs })
    expect(await check(hooks, id)).toEqual({ message: '201 Created' })
    expect(Object.keys(hooks.receiver.requests[0]!.headers)).toEqual(
      expect.arrayContaining(['x-team', 'x-svc-token', 'authorization']),
    )
    expect(JSON.stringify(other.requests[0]!.headers)).not.toMatch(/x-team|x-svc-token|authorization/)
  })
})

test('a host that does not answer in time is a failure with a reason', async () => {
  const hooks = await HookWorld.open(() => ({ play: 'silence' }), { requestTimeoutMs: 50 })
  expect(await check(hooks, (await hooks.hook()).id)).toEqual({ code: 'impossible', message: 'no answer in time' })
})

test('a host that refuses connections is a failure with a reason', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({ url: await refusedUrl() })
  expect(await check(hooks, id)).toMatchObject({ code: 'impossible', message: expect.stringMatching(/refused/) })
})

test('in silent mode nothing is sent', async () => {
  const hooks = await HookWorld.open(undefined, {
    settings: {
      pinnedSettings: { allow_local_requests_from_web_hooks_and_services: true, silent_mode_enabled: true },
    },
  })
  const { id } = await hooks.hook({ issuesEvents: true })
  await hooks.perform(createIssue, { title: 'Leak' })
  expect(await check(hooks, id)).toEqual({ code: 'impossible', message: 'Silent mode enabled' })
  await hooks.idle()
  expect(hooks.receiver.requests).toEqual([])
})
