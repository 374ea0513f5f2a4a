import { createIssue, issueNotes, testHook } from '@penstock/core'
import { expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const failure = (error: { failure: unknown }) => error.failure

test('headers may have any characters, which are sent in UTF-8; control characters are refused', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({
    pushEvents: true,
    token: 'zä☃',
    customHeaders: [{ key: 'X-Team', value: '紅' }],
  })
  await hooks.perform(testHook, { hookId: id, trigger: 'push_events' })
  const [{ headers }] = hooks.receiver.requests as [(typeof hooks.receiver.requests)[0]]
  const received = [headers['x-svc-token'], headers['x-team']]
  expect(received.map((value) => Buffer.from(String(value), 'latin1').toString())).toEqual(['zä☃', '紅'])

  for (const secrets of [{ token: 'a\u0001b' }, { customHeaders: [{ key: 'X-Team', value: 'a\u0001b' }] }]) {
    const hook = await hooks.hook({ issuesEvents: true, ...secrets })
    const tested = hooks.perform(testHook, { hookId: hook.id, trigger: 'push_events' })
    expect(await tested.catch(failure)).toMatchObject({
      code: 'impossible',
      message: expect.stringMatching(/invalid$/),
    })
    const [call] = await hooks.calls(hook.id, 1)
    expect(call).toMatchObject({ status: undefined, internalError: expect.stringMatching(/invalid$/) })
  }
  expect(hooks.receiver.requests.length).toBe(1)
})

test('a template that repeats a long note, and keys of variables that occur in answers, do not exhaust memory', async () => {
  const letters = 'abcdefghijklmnopqrst'
  const hooks = await HookWorld.open(() => ({ play: 'reply', status: 200, body: letters.repeat(400) }))
  const large = await hooks.hook({
    noteEvents: true,
    customWebhookTemplate: `"${'{{object_attributes.note}}'.repeat(150)}"`,
  })
  const masking = await hooks.hook({
    noteEvents: true,
    urlVariables: [...letters].map((letter) => ({ key: letter + letters.repeat(12), value: letter })),
  })
  await hooks.perform(createIssue, { title: 'Leak' })
  await hooks.perform(issueNotes.create, { issueIid: 1, body: '\u0001'.repeat(1_000_000) })
  const [refused] = await hooks.calls(large.id, 1)
  expect(refused!.internalError).toMatch(/The result is too large$/)
  const [masked] = await hooks.calls(masking.id, 1)
  expect(masked).toMatchObject({ status: 200 })
  expect(masked!.responseBody.length).toBe(8_000)
})
