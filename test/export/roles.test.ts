import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { SmtpReceiver } from '../../packages/mail/src/smtp-receiver.harness.ts'
import { penstock } from '../command-line.ts'
import { accept, startSink } from '../gateway/accepting-sink.ts'
import { until } from '../gateway/until.ts'
import { finished, running } from './pipelines.ts'
import { call, dataDirectory, EXPORT, environment, newProject, queued, type Service, serve } from './service.ts'
import { credentialsBySignal, pipelineSpans } from './sink.ts'

const put = (service: Service, project: number, body: string, id = 31): Promise<unknown> =>
  call(service, 'PUT', `/projects/${project}/pipeline_records/${id}`, body)

const untilQueued = (dataDir: string, expected: readonly string[]) =>
  until(`the queue is ${expected}`, async () => (await queued(dataDir)).join() === expected.join())

const page = async (service: Service, path: string) => (await fetch(service.healthUrl + path)).text()

test('exports a record once after a restart', async () => {
  const dataDir = await dataDirectory()
  let isDown = true
  const sink = await startSink(() => (isDown ? { play: 'reply', status: 503 } : accept()))
  const env = { PENSTOCK_EXPORT_ENDPOINT: sink.url }
  const first = await serve('core', dataDir, env)
  const project = await newProject(first, 'tide-tables', { [EXPORT]: 'traces' })
  await put(first, project, finished())
  await sink.received(1)
  expect(await first.stop()).toMatchObject({ exitCode: 0 })
  expect(await queued(dataDir)).toEqual(['open 31 traces'])

  isDown = false
  const before = sink.requests.length
  const second = await serve('core', dataDir, env)
  await put(second, project, finished())
  await untilQueued(dataDir, ['delivered 31 traces'])
  expect(sink.requests).toHaveLength(before + 1)
})

test('waits for the reply to a request in progress at shutdown, and does not repeat it', async () => {
  const dataDir = await dataDirectory()
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const sink = await startSink(() => ({ play: 'reply', status: 200, after: answered }))
  const service = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  await put(service, await newProject(service, 'tide-tables', { [EXPORT]: 'traces' }), finished())
  await sink.received(1)
  const ended = service.stop()
  answer()
  expect(await ended).toMatchObject({ exitCode: 0 })
  expect(await queued(dataDir)).toEqual(['delivered 31 traces'])
  expect(sink.requests).toHaveLength(1)
})

test('a worker exports the records of the core, and serves metrics and health', async () => {
  const dataDir = await dataDirectory()
  let isDown = true
  const sink = await startSink(() => (isDown ? { play: 'reply', status: 503 } : accept()))
  const env = { PENSTOCK_EXPORT_ENDPOINT: sink.url }
  const core = await serve('core', dataDir, { ...env, PENSTOCK_CORE_METRICS_LISTEN: '127.0.0.1:0' })
  await put(core, await newProject(core, 'tide-tables', { [EXPORT]: 'traces,logs' }), finished())
  await sink.received(1)
  expect(await page(core, '/metrics')).toContain('penstock_export_records{outcome="enqueued"} 1\n')
  await core.stop()

  isDown = false
  const worker = await serve('worker', dataDir, env)
  await untilQueued(dataDir, ['delivered 31 logs', 'delivered 31 traces'])
  expect(await page(worker, '/readyz')).toBe('ready\n')
  expect(await page(worker, '/livez')).toBe('ok\n')
  expect(await page(worker, '/metrics')).toContain('penstock_export_delivered{signal="logs"} 1\n')
  expect((await fetch(`${worker.healthUrl}/api/v4/version`)).status).toBe(404)
  expect(await worker.stop()).toMatchObject({ exitCode: 0 })
})

test('two workers and a core share the work, and make each export once', async () => {
  const [sink, dataDir] = [await startSink(), await dataDirectory()]
  const env = { PENSTOCK_EXPORT_ENDPOINT: sink.url }
  const core = await serve('core', dataDir, env)
  await Promise.all([serve('worker', dataDir, env), serve('worker', dataDir, env)])
  const project = await newProject(core, 'tide-tables', { [EXPORT]: 'traces' })
  const ids = Array.from({ length: 40 }, (_, index) => 100 + index)
  await Promise.all(ids.map((id) => put(core, project, finished(id), id)))
  await untilQueued(
    dataDir,
    ids.map((id) => `delivered ${id} traces`),
  )
  const traces = pipelineSpans(sink).map(({ traceId }) => traceId)
  expect(traces).toHaveLength(ids.length)
  expect(new Set(traces).size).toBe(ids.length)
})

test('two workers and a core send each mail once, also mails that the core has left', async () => {
  const [dataDir, receiver] = [await dataDirectory(), await SmtpReceiver.start()]
  onTestFinished(() => receiver.close())
  const core = await serve('core', dataDir, { PENSTOCK_SMTP_URL: receiver.url })
  const env = { PENSTOCK_SMTP_URL: receiver.url, PENSTOCK_EXTERNAL_URL: core.url }
  const workers = await Promise.all([serve('worker', dataDir, env), serve('worker', dataDir, env)])
  expect(workers[0]!.said()).toContain('sends the mails that are waiting')
  const { id } = await call(core, 'GET', '/user')
  const add = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        call(core, 'POST', `/users/${id}/emails`, { email: `root${from + index}@home.test` }),
      ),
    )
  const untilMailed = (count: number) => until(`${count} mails`, async () => receiver.mails.length >= count)
  await add(0, 15)
  await untilMailed(15)
  await Promise.all(workers.map((worker) => worker.stop()))
  await core.stop()

  const away = await serve('core', dataDir, { PENSTOCK_SMTP_URL: 'smtp://127.0.0.1:1' })
  await call(away, 'POST', `/users/${id}/emails`, { email: 'root15@home.test' })
  const silent = await serve('worker', dataDir, { PENSTOCK_SMTP_URL: receiver.url })
  expect(silent.said()).not.toContain('mails')
  await Promise.all([away.stop(), silent.stop()])
  await serve('worker', dataDir, env)
  await untilMailed(16)
  expect(new Set(receiver.mails.map(({ to }) => to)).size).toBe(16)
  expect(receiver.mails).toHaveLength(16)
  expect(receiver.mails[15]!.parsed.text).toContain(`${core.url}/-/emails/confirm`)
}, 60_000)

const sources = (endpoint: string) => ({
  forge: {
    secretToken: 'the-secret-of-the-forge',
    endpoint,
    token: 'the-token-of-the-forge',
    signals: ['traces', 'logs'],
  },
})

const hook = (service: Service, body: string, token = 'the-secret-of-the-forge') =>
  fetch(`${service.url}/hooks/pipelines/forge`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Gitlab-Event': 'Pipeline Hook', 'X-Gitlab-Token': token },
    body,
  })

test('exports pipelines of a source with its own endpoint, token and signals, and lists them by its name', async () => {
  const [sink, own, dataDir] = [await startSink(), await startSink(), await dataDirectory()]
  const file = join(dataDir, 'sources.json')
  writeFileSync(file, JSON.stringify(sources(sink.url)))
  const service = await serve('core', dataDir, { PENSTOCK_SOURCES: file, PENSTOCK_EXPORT_ENDPOINT: own.url })
  expect(service.said()).toContain(`Webhooks of a source go to ${service.url}/hooks/pipelines/forge\n`)
  expect((await hook(service, finished(), 'wrong-secret')).status).toBe(401)
  for (const body of [running(), finished(), finished()]) expect((await hook(service, body)).status).toBe(202)
  await untilQueued(dataDir, ['delivered 31 logs', 'delivered 31 traces'])
  expect(credentialsBySignal(sink)).toEqual([
    'traces with Bearer the-token-of-the-forge',
    'logs with Bearer the-token-of-the-forge',
  ])
  expect(own.requests).toEqual([])
  const { stdout } = await penstock(['export-queue', 'list', '--state', 'delivered'], { env: environment(dataDir) })
  expect(stdout).toMatch(/ source forge +31 +/)
})

test('a worker leaves exports of a source without settings to another worker, and doctor reports them', async () => {
  const [sink, dataDir] = [await startSink(() => accept()), await dataDirectory()]
  let isDown = true
  const down = await startSink(() => (isDown ? { play: 'reply', status: 503 } : accept()))
  const env = { PENSTOCK_SOURCES: JSON.stringify(sources(down.url)), PENSTOCK_EXPORT_ENDPOINT: sink.url }
  const core = await serve('core', dataDir, env)
  expect((await hook(core, finished())).status).toBe(202)
  await down.received(1)
  await core.stop()
  isDown = false

  const core2 = await serve('core', dataDir, { PENSTOCK_EXPORT_ENDPOINT: sink.url })
  await put(core2, await newProject(core2, 'tide-tables', { [EXPORT]: 'traces' }), finished(32), 32)
  await untilQueued(dataDir, ['delivered 32 traces', 'open 31 logs', 'open 31 traces'])
  const run = (args: readonly string[], more = {}) => penstock(args, { env: { ...environment(dataDir), ...more } })
  const unconfigured =
    /^note +exports of the source forge are waiting, but these settings do not contain it: .* drop --source forge$/m
  expect((await run(['doctor'])).stdout).toMatch(unconfigured)
  expect((await run(['doctor'], env)).stdout).not.toMatch(unconfigured)

  const worker = await serve('worker', dataDir, env)
  await untilQueued(dataDir, ['delivered 31 logs', 'delivered 31 traces', 'delivered 32 traces'])
  await worker.stop()
})

test('a worker refuses to start without a core, and creates none', async () => {
  const dataDir = await dataDirectory()
  const directory = join(dataDir, 'mistyped')
  const outcome = await penstock(['serve', 'worker'], {
    env: { ...environment(dataDir), PENSTOCK_DATA_DIR: directory },
  })
  expect(outcome).toMatchObject({ exitCode: 2, stdout: '' })
  // On PostgreSQL the directory contains only the key.
  const [, what, where] = /^penstock: there is no (core|secrets\.key) in ([^\n:]+)/.exec(outcome.stderr) ?? []
  expect([what, where]).toEqual([process.env.PENSTOCK_TEST_DATABASE_URL ? 'secrets.key' : 'core', directory])
  expect(existsSync(directory)).toBe(false)
})

test.each(['all', 'core', 'worker'] as const)(
  'serve %s: prints one line per problem of the sources, and exits with 2',
  async (role) => {
    const env = {
      ...environment(await dataDirectory()),
      PENSTOCK_SOURCES: '{"forge":{"secretToken":"a-secret-of-the-forge","tokn":"a-secret-of-mine"}}',
    }
    const { exitCode, stdout, stderr } = await penstock(['serve', role], { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    const about = 'penstock: exporter.sources (PENSTOCK_SOURCES): source forge:'
    expect(stderr).toBe(`${about} signals is missing\n${about} unknown key "tokn"\n`)
  },
)
