import {
  createCommit,
  createIssue,
  createRelease,
  getProjectHook,
  issueAwards,
  issueNotes,
  putPipelineRecord,
  removeRelease,
  resendHookEvent,
  testHook,
  updateIssue,
  updateProjectHook,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { HookWorld } from './webhooks.harness.ts'

const commit = (message: string, branch = 'main') => ({
  branch,
  startBranch: branch === 'main' ? undefined : 'main',
  commitMessage: message,
  actions: [{ action: 'create', filePath: `${message}.md`, content: message }],
})
const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('a push arrives, signed, with its headers, and stands in the event log without secrets', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({
    pushEvents: true,
    url: `${hooks.receiver.url.replace('http://', 'http://u:p%40@')}/{tenant}`,
    token: 'open-secret',
    signingToken: key,
    customHeaders: [
      { key: 'X-Team', value: 'red-secret' },
      { key: 'x-svc-event', value: 'mine' },
    ],
    urlVariables: [{ key: 'tenant', value: 'blue-secret' }],
  })
  await hooks.perform(createCommit, commit('first'))
  const [body] = await hooks.bodies(1)
  const [{ headers, path, body: bytes }] = hooks.receiver.requests as [(typeof hooks.receiver.requests)[0]]
  expect(path).toBe('/blue-secret')
  expect(headers).toMatchObject({
    authorization: `Basic ${Buffer.from('u:p@').toString('base64')}`,
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Svc\//),
    'x-svc-event': 'Push Hook',
    'x-svc-instance': 'https://svc.example.test',
    'x-svc-token': 'open-secret',
    'x-team': 'red-secret',
    'webhook-id': headers['idempotency-key'],
  })
  const sentAt = new Date(hooks.world.clock.nowMs())
  const signature = new Webhook(key).sign(String(headers['webhook-id']), sentAt, Buffer.from(bytes).toString())
  expect(headers['webhook-signature']).toBe(signature)
  expect(body).toMatchObject({
    object_kind: 'push',
    before: '0'.repeat(40),
    ref: 'refs/heads/main',
    user_username: 'mira',
    project: { path_with_namespace: 'ops/tools', visibility_level: 0, namespace: 'ops' },
    commits: [{ title: 'first', added: ['first.md'], modified: [], removed: [] }],
    total_commits_count: 1,
  })
  const [call] = await hooks.calls(id, 1)
  expect(call).toMatchObject({ trigger: 'push_hooks', status: 200, responseBody: 'ok' })
  expect(call!.url).toBe(`${hooks.receiver.url.replace('http://', 'http://*****:*****@')}/{tenant}`)
  expect(call!.requestHeaders).toMatchObject({ 'X-Svc-Token': '[REDACTED]', 'X-Team': '[REDACTED]' })
  expect(JSON.parse(call!.requestData)).toMatchObject({ commits: [{ author: { email: '[REDACTED]' } }] })
  expect(JSON.stringify(call)).not.toMatch(/open-secret|red-secret|blue-secret|whsec_|@example/)
})

test('issues, pipelines and jobs arrive at the hooks that want them, and only there', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ url: `${hooks.receiver.url}/issues`, issuesEvents: true })
  await hooks.hook({ url: `${hooks.receiver.url}/secret`, confidentialIssuesEvents: true })
  await hooks.hook({ url: `${hooks.receiver.url}/ci`, pipelineEvents: true, jobEvents: true })
  const { iid: issueIid } = await hooks.perform(createIssue, { title: 'Leak' })
  await hooks.perform(updateIssue, { issueIid, title: 'Big leak', stateEvent: 'close' })
  await hooks.perform(updateIssue, { issueIid, confidential: true })
  const record = (status: string, job: string) => ({
    pipelineId: 31,
    objectAttributes: { id: 31, status, ref: 'main', createdAt: '2026-02-03 04:00:00 UTC' },
    builds: [{ id: 311, name: 'unit', stage: 'test', status: job }],
  })
  await hooks.perform(putPipelineRecord, recordInput(record('running', 'running')))
  await hooks.perform(putPipelineRecord, recordInput(record('success', 'success')))
  await hooks.bodies(7)
  await hooks.idle()
  const got = hooks.receiver.requests.map(({ path, body }) => {
    const {
      object_kind,
      event_type,
      object_attributes: attributes,
      build_status,
      changes,
    } = JSON.parse(Buffer.from(body).toString())
    return [path, object_kind, event_type, attributes?.action ?? attributes?.status ?? build_status, changes?.title]
  })
  expect(got.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))).toEqual([
    ['/ci', 'build', undefined, 'running', undefined],
    ['/ci', 'build', undefined, 'success', undefined],
    ['/ci', 'pipeline', undefined, 'running', undefined],
    ['/ci', 'pipeline', undefined, 'success', undefined],
    ['/issues', 'issue', 'issue', 'close', { previous: 'Leak', current: 'Big leak' }],
    ['/issues', 'issue', 'issue', 'open', { previous: null, current: 'Leak' }],
    ['/secret', 'issue', 'confidential_issue', 'update', undefined],
  ])
})

test('notes arrive with what they are about; internal ones only at hooks for confidential notes', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ url: `${hooks.receiver.url}/notes`, noteEvents: true })
  await hooks.hook({ url: `${hooks.receiver.url}/secret`, confidentialNoteEvents: true })
  const { iid: issueIid } = await hooks.perform(createIssue, { title: 'Leak' })
  await hooks.perform(issueNotes.create, { issueIid, body: 'Look ![it](/uploads/a/b.png)' })
  await hooks.perform(issueNotes.create, { issueIid, body: 'Inside', internal: true })
  await hooks.bodies(2)
  await hooks.idle()
  const got = hooks.receiver.requests.map(({ path, body }) => {
    const { object_kind, event_type, object_attributes: attributes, issue } = JSON.parse(Buffer.from(body).toString())
    return [path, object_kind, event_type, attributes.note, attributes.action, attributes.internal, issue.title]
  })
  const image = 'https://svc.example.test/ops/tools/uploads/a/b.png'
  expect(got.toSorted()).toEqual([
    ['/notes', 'note', 'note', `Look ![it](${image})`, 'create', false, 'Leak'],
    ['/secret', 'note', 'confidential_note', 'Inside', 'create', true, 'Leak'],
  ])
})

test('reactions and releases arrive when they are made and removed', async () => {
  const hooks = await HookWorld.open()
  await hooks.hook({ emojiEvents: true, releasesEvents: true })
  const { iid: issueIid } = await hooks.perform(createIssue, { title: 'Leak' })
  const { id: awardId } = await hooks.perform(issueAwards.create, { issueIid, name: 'thumbsup' })
  await hooks.bodies(1)
  await hooks.perform(issueAwards.remove, { issueIid, awardId })
  await hooks.bodies(2)
  await hooks.perform(createCommit, commit('first'))
  await hooks.perform(createRelease, { tagName: 'v1', ref: 'main', name: 'One' })
  await hooks.bodies(3)
  await hooks.perform(removeRelease, { tagName: 'v1' })
  expect(await hooks.bodies(4)).toMatchObject([
    {
      object_kind: 'emoji',
      event_type: 'award',
      object_attributes: {
        name: 'thumbsup',
        awardable_type: 'Issue',
        awarded_on_url: expect.stringMatching(/issues.1$/),
      },
      issue: { title: 'Leak' },
    },
    { object_kind: 'emoji', event_type: 'revoke', object_attributes: { action: 'revoke' } },
    {
      object_kind: 'release',
      action: 'create',
      tag: 'v1',
      name: 'One',
      commit: { title: 'first' },
      assets: { count: 4 },
    },
    { object_kind: 'release', action: 'delete', tag: 'v1', name: 'One' },
  ])
})

test('a branch filter selects pushes', async () => {
  const hooks = await HookWorld.open()
  const filter = { pushEvents: true, pushEventsBranchFilter: 'release/*' }
  await hooks.hook(filter)
  await hooks.perform(createCommit, commit('first'))
  await hooks.perform(createCommit, commit('second', 'release/1'))
  const bodies = await hooks.bodies(1)
  await hooks.idle()
  expect(bodies.map(({ ref }) => ref)).toEqual(['refs/heads/release/1'])
})

test('a template replaces the payload; a broken one is logged and is counted as a failure', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({
    issuesEvents: true,
    customWebhookTemplate: '{"text": "{{object_attributes.title}} by {{user.username}}", "none": {{nope}}}',
  })
  await hooks.perform(createIssue, { title: 'A "leak"' })
  expect(await hooks.bodies(1)).toEqual([{ text: 'A "leak" by mira', none: null }])
  await hooks.calls(id, 1)
  await hooks.perform(updateProjectHook, { hookId: id, url: `${hooks.receiver.url}/in`, customWebhookTemplate: '{' })
  await hooks.perform(createIssue, { title: 'B' })
  const [call] = await hooks.calls(id, 2)
  expect(call).toMatchObject({ status: undefined, requestData: '{}' })
  expect(call!.internalError).toMatch(/^Error while parsing rendered custom webhook template: /)
})

describe('a hook that fails', () => {
  test('is paused after the fourth failure, skipped in between, and enabled by a successful test', async () => {
    let status = 500
    const hooks = await HookWorld.open(() => ({ play: 'reply', status, body: 'no' }))
    const { id } = await hooks.hook({ issuesEvents: true })
    for (let count = 1; count <= 4; count += 1) {
      await hooks.perform(createIssue, { title: `Leak ${count}` })
      await hooks.calls(id, count)
    }
    const read = () => hooks.perform(getProjectHook, { hookId: id })
    expect(await read()).toMatchObject({ alertStatus: 'temporarily_disabled' })
    await hooks.perform(createIssue, { title: 'skipped' })
    await hooks.idle()
    expect(hooks.receiver.requests).toHaveLength(4)
    const check = () => hooks.perform(testHook, { hookId: id, trigger: 'issues_events' })
    await expect(check()).rejects.toMatchObject({ failure: { code: 'impossible', message: 'no' } })
    expect(await read()).toMatchObject({ recentFailures: 4 })
    status = 200
    expect(await check()).toEqual({ message: '201 Created' })
    expect(await read()).toMatchObject({ alertStatus: 'executable', recentFailures: 0 })
  })
})

test('an entry of the log is sent again with its key, unless the URL has changed', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({ issuesEvents: true, signingToken: key })
  await hooks.perform(createIssue, { title: 'Leak' })
  const [first] = await hooks.calls(id, 1)
  hooks.world.clock.advance(5_000)
  const resend = () => hooks.perform(resendHookEvent, { hookId: id, hookEventId: first!.id })
  expect(await resend()).toEqual({ responseStatus: 200 })
  const [one, other] = hooks.receiver.requests
  expect(other!.headers['idempotency-key']).toBe(one!.headers['idempotency-key'])
  expect(other!.headers['webhook-timestamp']).not.toBe(one!.headers['webhook-timestamp'])
  expect(JSON.parse(Buffer.from(other!.body).toString())).toMatchObject({ user: { email: '[REDACTED]' } })
  await hooks.perform(updateProjectHook, { hookId: id, url: `${hooks.receiver.url}/other` })
  await expect(resend()).rejects.toMatchObject({
    failure: { message: 'The hook URL has changed, and this log entry cannot be retried' },
  })
})

test('a receiver that calls the API gets no event of its own chain', async () => {
  const hooks = await HookWorld.open()
  const { id } = await hooks.hook({ issuesEvents: true })
  await hooks.perform(createIssue, { title: 'Leak' })
  await hooks.calls(id, 1)
  const eventUuid = String(hooks.receiver.requests[0]!.headers['x-svc-event-uuid'])
  await hooks.perform(createIssue, { title: 'Answer' }, { request: { eventUuid } })
  await hooks.perform(createIssue, { title: 'Other' })
  await hooks.calls(id, 2)
  await hooks.idle()
  expect(hooks.receiver.requests).toHaveLength(2)
})
