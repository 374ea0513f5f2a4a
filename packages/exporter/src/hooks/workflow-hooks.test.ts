import { createHmac } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { fixture, HookReceiver } from './hook-receiver.harness.ts'

let receiver: HookReceiver
afterEach(() => receiver.close())

const key = 'the key of the signature'
const signatureOf = (body: string): string => createHmac('sha256', key).update(body).digest('hex')

test.each([
  ['github', 'github-run-hook-alone', 'workflow_run', 'X-GitHub-Event', 'X-Hub-Signature-256', 'sha256='],
  ['gitea', 'gitea-job-hooks-then-run-hook', 'workflow_run', 'X-Gitea-Event', 'X-Gitea-Signature', ''],
  ['forgejo', 'forgejo-failure', 'action_run_failure', 'X-Forgejo-Event', 'X-Forgejo-Signature', ''],
] as const)('%s: a signed hook is enqueued, another one is refused', async (...row) => {
  const [forge, name, event, eventName, signatureName, prefix] = row
  const source = { forge, secretToken: key, signals: ['traces'], settleSeconds: 0, encoding: 'json' }
  receiver = await HookReceiver.start({ sources: { forge: source } })
  const body = JSON.stringify([JSON.parse(fixture(`pipelines/${name}.json`))].flat().at(-1))
  const headersWith = (signature: string) => ({ [eventName]: event, [signatureName]: `${prefix}${signature}` })
  const answer = await receiver.post(body, headersWith(signatureOf(body)))
  expect(answer).toMatchObject({ status: 202, json: { result: 'enqueued' } })
  expect(await receiver.post(body, headersWith(signatureOf(`${body} `)))).toMatchObject({ status: 401 })
  expect(await receiver.post(body, { [eventName]: event })).toMatchObject({ status: 401 })
  const [request] = await receiver.exported(1)
  expect(request?.body.toString()).toContain(`{"key":"vcs.provider.name","value":{"stringValue":"${forge}"}}`)
})

test.each([
  ['github', 'github-run-hook-alone', 'X-GitHub-Event', 'X-Hub-Signature-256', 'sha256=', 'form'],
  ['gitea', 'gitea-job-hooks-then-run-hook', 'X-Gitea-Event', 'X-Gitea-Signature', '', 'payload'],
] as const)('%s: a form is read, and signed by its %6$s', async (...row) => {
  const [forge, name, eventName, signatureName, prefix, signs] = row
  const source = { forge, secretToken: key, signals: ['traces'], settleSeconds: 0, encoding: 'json' }
  receiver = await HookReceiver.start({ sources: { forge: source } })
  const payload = JSON.stringify([JSON.parse(fixture(`pipelines/${name}.json`))].flat().at(-1))
  const form = new URLSearchParams({ payload }).toString()
  const headersWith = (signed: string) => ({
    'Content-Type': 'application/x-www-form-urlencoded',
    [eventName]: 'workflow_run',
    [signatureName]: `${prefix}${signatureOf(signed)}`,
  })
  const signed = { form, payload }
  const other = signs === 'form' ? payload : form
  expect(await receiver.post(form, headersWith(other))).toMatchObject({ status: 401 })
  expect(await receiver.post(form, headersWith(signed[signs]))).toMatchObject({
    status: 202,
    json: { result: 'enqueued' },
  })
  const empty = signs === 'form' ? 'other=1' : ''
  expect(await receiver.post('other=1', headersWith(empty))).toMatchObject({ status: 400 })
  const large = `payload=${'a'.repeat(6 * 1024 * 1024)}`
  expect(await receiver.post(large, headersWith(large))).toMatchObject({ status: 413 })
  expect(await receiver.exported(1)).toHaveLength(1)
})

test('a hook about another event is ignored', async () => {
  receiver = await HookReceiver.start({
    sources: { forge: { forge: 'github', secretToken: key, signals: ['traces'] } },
  })
  const body = '{"ref":"refs/heads/main"}'
  const headers = { 'X-GitHub-Event': 'push', 'X-Hub-Signature-256': `sha256=${signatureOf(body)}` }
  expect(await receiver.post(body, headers)).toMatchObject({ status: 202, json: { result: 'ignored' } })
})
