import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { fixture, HookReceiver, readHooks, secretToken, signed, signingToken } from './hook-receiver.harness.ts'

let receiver: HookReceiver
const start = async (...settings: Parameters<typeof HookReceiver.start>) => {
  receiver = await HookReceiver.start(...settings)
}
afterEach(() => receiver.close())

interface Delivery {
  readonly case: string
  /** The name of a file in fixtures/pipelines. */
  readonly body: string
  readonly signed: boolean
  readonly headers: Readonly<Record<string, string>>
}
const deliveries: readonly Delivery[] = JSON.parse(fixture('webhooks/deliveries.json'))
const finished = fixture('pipelines/push-pipeline-five-jobs-three-stages.json')
const enqueued = { result: 'enqueued', signals: ['traces'] }

test.each(deliveries)('accepts $case, and exports nothing for a redelivery', async (delivery) => {
  const credential = delivery.signed ? { signingToken } : { secretToken }
  await start({ sources: { forge: { ...credential, signals: ['traces', 'metrics', 'logs'] } } })
  const body = fixture(`pipelines/${delivery.body}.json`)
  const send = () => {
    const headers = Object.entries(delivery.headers).map(([name, value]) => [
      name,
      value === '<secret token>' ? secretToken : value,
    ])
    const signature = delivery.signed ? signed(body, delivery.headers['webhook-id']!, receiver.clock.nowMs()) : {}
    return receiver.post(body, { ...Object.fromEntries(headers), ...signature })
  }
  expect(await send()).toMatchObject({
    status: 202,
    json: { result: 'enqueued', signals: ['traces', 'metrics', 'logs'] },
  })
  expect(await receiver.keys()).toHaveLength(1)
  await receiver.clock.advance(3_600_000)
  expect(await send()).toMatchObject({
    status: 202,
    json: { result: 'kept', reason: expect.stringContaining('already exported') },
  })
  const paths = (await receiver.exported(3)).map(({ path }) => path)
  expect(paths.toSorted()).toEqual(['/v1/logs', '/v1/metrics', '/v1/traces'])
})

test('exports only the final one of the hooks about each change of status', async () => {
  await start()
  const chain = { 'X-Gitlab-Event': 'Pipeline Hook', 'X-Gitlab-Event-UUID': '13792a34-cac6-4fda-95a8-c58e00a3954e' }
  const results = []
  for (const body of readHooks('one-hook-per-status-change'))
    results.push((await receiver.send(body, chain)).json.result)
  expect(results).toEqual(['kept', 'kept', 'kept', 'kept', 'kept', 'enqueued'])
})

test('exports once for ten redeliveries at the same time', async () => {
  await start()
  const answers = await Promise.all(Array.from({ length: 10 }, () => receiver.send(finished)))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202))
  expect(answers.filter(({ json }) => json.result === 'enqueued')).toHaveLength(1)
  expect(await receiver.keys()).toHaveLength(1)
  expect(await receiver.exported(1)).toHaveLength(1)
})

test('adds the data of earlier job hooks to the export', async () => {
  await start()
  const bodies = readHooks('job-hook-then-pipeline-hook')
  const results = []
  for (const [index, body] of bodies.entries()) {
    const event = index === bodies.length - 1 ? 'Pipeline Hook' : index === 0 ? 'Build Hook' : 'Job Hook'
    results.push((await receiver.send(body, { 'X-Gitlab-Event': event })).json.result)
  }
  expect(results).toEqual(['kept', 'kept', 'kept', 'enqueued'])
  const [request] = await receiver.exported(1)
  // The second attempt of job 640244, which is missing from its pipeline hook.
  expect(Buffer.from(request!.body).toString()).toContain(
    '{"key":"svc.cicd.pipeline.task.run.attempt","value":{"intValue":"2"}}',
  )
})

test('treats the same pipeline id in two projects without URLs as two pipelines, each with its own job hooks', async () => {
  await start()
  const oldJobHook = (project_id: number, build_failure_reason: string) =>
    JSON.stringify({
      object_kind: 'build',
      build_id: 380,
      build_status: 'failed',
      build_failure_reason,
      commit: { id: 31 },
      project_id,
    })
  const pipelineHook = (id: number) =>
    JSON.stringify({
      object_attributes: { id: 31, status: 'failed', created_at: '2026-01-05 10:00:00 UTC' },
      project: { id },
      builds: [{ id: 380, status: 'failed' }],
    })
  const bodies = [oldJobHook(1, 'api_failure'), oldJobHook(2, 'script_failure'), pipelineHook(1), pipelineHook(2)]
  const results = []
  for (const body of bodies) results.push((await receiver.send(body)).json.result)
  expect(results).toEqual(['kept', 'kept', 'enqueued', 'enqueued'])
  const texts = (await receiver.exported(2)).map(({ body }) => Buffer.from(body).toString())
  expect(texts.map((text) => /api_failure|script_failure/.exec(text)?.[0]).toSorted()).toEqual([
    'api_failure',
    'script_failure',
  ])
})

test('exports the same pipeline of two sources to the endpoint of each, with its token', async () => {
  const source = (token: string) => ({ secretToken, signals: ['traces'], token })
  await start({ sources: { one: source('token-one'), two: source('token-two') } })
  const headers = { 'X-Gitlab-Token': secretToken }
  for (const name of ['one', 'two', 'two']) expect((await receiver.post(finished, headers, name)).status).toBe(202)
  expect(await receiver.keys()).toEqual(['source:one ci.example.com 31', 'source:two ci.example.com 31'])
  const sent = (await receiver.exported(2)).map((request) => request.headers.authorization)
  expect(sent.toSorted()).toEqual(['Bearer token-one', 'Bearer token-two'])
})

test('accepts headers with the name of the service', async () => {
  await start({ serviceName: 'acme-ci' })
  const own = { 'X-Acme-Ci-Token': secretToken, 'X-Acme-Ci-Event': 'Push Hook' }
  expect(await receiver.post(finished, own)).toMatchObject({ status: 202, json: { result: 'ignored' } })
  expect(await receiver.post(finished, { ...own, 'X-Acme-Ci-Event': 'Pipeline Hook' })).toMatchObject({
    status: 202,
    json: enqueued,
  })
})

test.each([
  ['a push hook', { 'X-Gitlab-Event': 'Push Hook' }, fixture('pipelines/push-hook-body.json')],
  ['an unreadable push hook', { 'X-Gitlab-Event': 'Push Hook' }, '{'],
  ['a push hook by its body alone', {}, fixture('pipelines/push-hook-body.json')],
  ['a system hook', { 'X-Gitlab-Event': 'System Hook' }, '{"event_name":"project_create","project_id":7}'],
  ['a system hook by its body alone', {}, '{"event_name":"project_create","project_id":7}'],
  [
    'a deployment under a wrong header',
    { 'X-Gitlab-Event': 'Job Hook' },
    '{"object_kind":"deployment","status":"success"}',
  ],
])('answers 202 to %s and ignores it', async (_, headers, body) => {
  await start()
  expect(await receiver.send(body, headers)).toMatchObject({
    status: 202,
    json: { result: 'ignored', reason: 'only pipeline and job hooks are kept' },
  })
  expect(await receiver.keys()).toEqual([])
})

test.each([
  ['cut off', '{"object_kind": "pipeline"', '400 Bad request - ends before the JSON is complete at line 1, column 27'],
  ['no JSON', '<html>', '400 Bad request - is not valid JSON at line 1, column 1'],
  ['not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), '400 Bad request - is not UTF-8'],
  [
    'gzip without a Content-Encoding',
    gzipSync('{"object_kind":"pipeline"}'),
    '400 Bad request - is compressed with gzip; send it uncompressed',
  ],
  [
    'UTF-16',
    Buffer.from('\ufeff{"object_kind":"pipeline"}', 'utf16le'),
    '400 Bad request - is UTF-16; send it as UTF-8',
  ],
  [
    'a list of jobs of the REST API',
    '[{"id":380,"name":"unit","status":"success","pipeline":{"id":31,"status":"success"}}]',
    expect.stringMatching(/^400 Bad request - is a list of jobs of the REST API, not a pipeline: /),
  ],
  [
    'no record',
    '{"project_id":7}',
    expect.stringContaining(
      '400 Bad request - must be a pipeline hook, a job hook or { project, pipeline, jobs, bridges }',
    ),
  ],
  [
    'a job of the REST API',
    '{"id":380,"name":"unit","status":"success","pipeline":{"id":31,"status":"success"}}',
    expect.stringMatching(/^400 Bad request - is a job of the REST API \(job 380 of pipeline 31\), not a pipeline: /),
  ],
  [
    "GitHub's",
    '{"workflow_run":{"id":1}}',
    expect.stringMatching(/is a github run, and must be .*, because the forge is gitlab$/),
  ],
  ['a captured request', '{"headers":{},"body":{}}', expect.stringContaining('is a captured request')],
  [
    'no id',
    fixture('refused/e49-id-missing.json'),
    expect.stringMatching(/^400 Bad request - object_attributes\.id: /),
  ],
  ['an unread job hook', fixture('refused/job-hook-without-pipeline-id.json'), expect.stringContaining('pipeline_id')],
  ['nothing', '', expect.stringMatching(/^400 Bad request - /)],
])('refuses a body: %s', async (_, body, message) => {
  await start()
  expect(await receiver.send(body, { 'X-Gitlab-Event': 'Pipeline Hook' })).toMatchObject({
    status: 400,
    json: { message },
  })
})

test('a run that does not name its server and repository needs a source that does', async () => {
  const bare = { forge: 'woodpecker', secretToken, signals: ['traces'], encoding: 'json' }
  const named = { ...bare, instanceId: 'ci.example.com', project: 'kiln-works/shelf' }
  const send = () =>
    receiver.post(fixture('unnamed/woodpecker-push-of-version-3.json'), { Authorization: `Bearer ${secretToken}` })
  await start({ sources: { forge: bare } })
  expect(await send()).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining('set instanceId and project of the source') },
  })
  await receiver.close()
  await start({ sources: { forge: named } })
  expect(await send()).toMatchObject({ status: 202, json: { result: 'enqueued' } })
})

test('returns warnings about a record', async () => {
  await start()
  const answer = await receiver.send(fixture('pipelines/e11-month-thirteen.json'))
  expect(answer.json).toMatchObject({
    result: 'enqueued',
    warnings: ['created_at', 'finished_at'].map((name) =>
      expect.stringMatching(`^object_attributes\\.${name}: must be a date`),
    ),
  })
})

test('neither returns, logs nor stores variables of a pipeline', async () => {
  await start()
  const answer = await receiver.send(fixture('pipelines/e58-canary-secret-in-variables.json'))
  expect(answer.status).toBe(202)
  expect(JSON.stringify(answer.json) + receiver.logged).not.toMatch(/canary-secret-5d1e77|CANARY_KEY_81c2/)
  const [record] = await receiver.db.read.selectFrom('export_records').select('body').execute()
  expect(record?.body).not.toContain('CANARY_KEY_81c2')
})
