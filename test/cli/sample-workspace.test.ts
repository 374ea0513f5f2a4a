import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { penstock, startPenstock } from '../command-line.ts'
import { until } from '../gateway/until.ts'
import { runAgainst, runShell, shellBlocks, shellFunction, testWithCurl } from '../page-commands.ts'
import { freePorts, type Serving, serving } from './serving.ts'
import { temporaryDirectory } from './temporary-directory.ts'

// All samples are stored and exported, which takes long on a busy machine.
vi.setConfig({ testTimeout: 400_000 })

const API_KEY = 'the-key-of-this-very-test'
/** The number of traces of the last two days. Of 33 pipelines, one waits and 6 are children, which are in the traces of their parents. */
const TRACES = 26
/** The start of these two days, counted back from now. All earlier pipelines started before. */
const RECENT_MS = 47.9 * 3_600_000
/** The first id of a pipeline of the last two days. */
const FIRST_RECENT = 1_001
const MARK = 'sample-workspace.pending'

// biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the answer
const observed = async ({ managementUrl }: Serving, query: string, key = API_KEY): Promise<any> => {
  const response = await fetch(`${managementUrl}/api/v1/${query}`, { headers: { 'obs-api-key': key } })
  return response.json()
}
/** Returns the runs of the last two days that no other pipeline of their project started. */
const recentRuns = async (service: Serving, key?: string) => {
  const since = new Date(Date.now() - RECENT_MS).toISOString()
  const runs = await observed(service, `observe/pipelines?service=svc-ci&limit=200&since=${since}`, key)
  return runs.filter(({ pipeline_id }: { pipeline_id: string }) => Number(pipeline_id) >= FIRST_RECENT)
}
const allTraces = (service: Serving, key?: string) =>
  until('all runs are in the store', async () => (await recentRuns(service, key)).length === TRACES, 60_000)

function rows(dataDir: string, query: string): unknown[] {
  const database = new Sqlite(join(dataDir, 'core.db'), { readonly: true, fileMustExist: true })
  try {
    return database.prepare(query).pluck().all()
  } finally {
    database.close()
  }
}
const pipelineIds = (dataDir: string) => rows(dataDir, 'select pipeline_id from pipelines order by 1') as number[]
const recentIds = (dataDir: string) => pipelineIds(dataDir).filter((id) => id >= FIRST_RECENT)
const everyRecentId = Array.from({ length: 33 }, (_, index) => FIRST_RECENT + index)
/** Waits until the earlier pipelines are recorded too, which the start does not wait for. */
const untilComplete = (dataDir: string) =>
  until('the samples are complete', () => !existsSync(join(dataDir, MARK)), 240_000)
/** Returns the number of pipelines that the start banner names. Weekends have fewer, so it depends on the day. */
const countIn = (banner: string) => Number(/its (\d+) pipelines are being sent/.exec(banner)?.[1])

testWithCurl(
  'a new start has a sample workspace; its commands work while a token is required, and all pipelines arrive',
  async () => {
    await using directory = await temporaryDirectory()
    const env = { PENSTOCK_DATA_DIR: join(directory.path, 'new') }
    const service = await serving(['--sample'], env)
    const [said = '', tries = ''] = service.stdout.text.split('Try next:\n')
    expect(said).toContain('The sample workspace mossgate is in the core; its ')
    expect(countIn(said)).toBeGreaterThan(250)
    const key = /API key, shown only now: +(\S+)/.exec(said)![1]!

    const commands = tries.split('\n').filter((line) => line.startsWith('  '))
    expect(commands).toHaveLength(7)
    await untilComplete(env.PENSTOCK_DATA_DIR)
    const pasted = commands.map((line) => line.replace('curl', "curl -sSf -w '\\n'")).join('\n')
    const { exitCode, stdout } = await runShell(pasted, {})
    expect(exitCode).toBe(0)
    const [pipelines, services, state] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(pipelines).toHaveLength(20)
    expect(pipelines[0]).toMatchObject({ id: 1032, source: 'push', ref: 'main', status: 'success' })
    expect(services).toEqual(expect.any(Array))
    expect(state).toMatchObject({ enabled: true, valid_tokens: 1 })

    await allTraces(service, key)
    const [store] = await until('all signals are in the store', async () => {
      const found = await observed(service, 'observe/services', key)
      return found[0].signals.length === 3 && found
    })
    expect(store).toMatchObject({ name: 'svc-ci', signals: ['traces', 'metrics', 'logs'] })
    const { clients } = await observed(service, 'ingest_auth/readiness', key)
    expect(clients).toEqual([])
    expect((await penstock(['export-queue', 'list'], { env })).stdout.trim().split('\n')).toHaveLength(1)
    await service.end()

    const again = await serving(['--sample'], env)
    expect(again.stdout.text).not.toContain('sample')
    expect(recentIds(env.PENSTOCK_DATA_DIR)).toEqual(everyRecentId)
    expect(pipelineIds(env.PENSTOCK_DATA_DIR)).toHaveLength(countIn(said))
    await again.end()
  },
)

testWithCurl('docs/guides/tour.md, docs/guides/graphql.md: the sample workspace is as they describe it', async () => {
  const blocks = shellBlocks('docs/guides/tour.md', '### The sample workspace', '## The gateway')
  const tours = [...shellBlocks('README.md', '## A tour of the gateway'), ...shellBlocks('docs/guides/tour.md')]
  const guide = shellBlocks('docs/guides/graphql.md', '## Ten minutes', '## The endpoint')
  expect([blocks.length, guide.length]).toEqual([2, 4])
  await using directory = await temporaryDirectory()
  const token = 'root-token-of-this-very-test'
  const service = await serving(['--sample'], {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_OBS_API_KEY: API_KEY,
    PENSTOCK_ROOT_TOKEN: token,
  })
  await allTraces(service)
  const coreUrl = /REST API is on (http:\S+)\/api\/v4,/.exec(service.stdout.text)![1]!
  const functions = [shellFunction(tours, 'api'), shellFunction(tours, 'obs'), shellFunction(guide, 'graphql')]
  const script = [...functions, blocks[0], guide[3], blocks[1]].join('').replaceAll('http://127.0.0.1:8080', coreUrl)
  const outcome = await runAgainst({ ...service, otlpUrl: '' }, script, { PRIVATE_TOKEN: token, OBS_API_KEY: API_KEY })
  expect(outcome.exitCode).toBe(0)
  const [groups, pipelines, failed, settings, refused, ...others] = outcome.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(groups.map(({ full_path }: { full_path: string }) => full_path).toSorted()).toEqual([
    'mossgate/lockers',
    'mossgate/lockers/devices',
    'mossgate/platform',
    'mossgate/shop',
  ])
  expect(pipelines).toHaveLength(3)
  expect(new Set(failed.map(({ source }: { source: string }) => source))).toEqual(new Set(['push']))
  expect(settings).toEqual({ signals: ['traces', 'metrics', 'logs'], token_set: true, warnings: [] })
  expect(refused).toEqual({ message: '403 Forbidden' })
  const found = others.pop()
  expect(found).toHaveLength(3)
  const [issues, ofBranch, secondPage] = others.map(({ data }) => data.project)
  expect(issues.issues.nodes[0].labels.nodes).toMatchObject([{ title: 'small screens' }])
  expect(ofBranch.pipelines.nodes[0].jobs.nodes).toHaveLength(5)
  expect(secondPage.pipelines).toMatchObject({ nodes: { length: 5 }, pageInfo: { hasNextPage: true } })
  const explorer = /(http:\S+) in a browser/.exec(service.stdout.text)![1]!
  expect((await fetch(explorer)).status).toBe(200)
  await service.end()
})

test.each([
  ['a person', 'select id from users where is_admin = 0'],
  ['a pipeline', 'select id from pipelines'],
])('a first start that is killed when there is %s is completed by the next one', async (_, query) => {
  await using directory = await temporaryDirectory()
  const env = {
    PENSTOCK_DATA_DIR: directory.path,
    PENSTOCK_OBS_API_KEY: API_KEY,
    // Otherwise the port would be a free one, which differs in each start.
    PENSTOCK_EXTERNAL_URL: 'https://svc.example.test',
  }
  const child = startPenstock(['serve', '--sample'], { ...freePorts, ...env })
  await until('it has begun', () => {
    const isThere = existsSync(join(directory.path, 'core.db'))
    try {
      return isThere && rows(directory.path, query).length > 0
    } catch (error) {
      // The tables are being created.
      if ((error as { code?: string }).code === 'SQLITE_ERROR') return false
      throw error
    }
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
  expect(existsSync(join(directory.path, MARK))).toBe(true)

  const service = await serving(['--sample'], env)
  const count = countIn(service.stdout.text)
  expect(recentIds(directory.path)).toEqual(everyRecentId)
  await untilComplete(directory.path)
  expect(pipelineIds(directory.path)).toHaveLength(count)
  expect(rows(directory.path, 'select key from ci_variables order by 1')).toEqual([
    'SVC_OBSERVABILITY_EXPORT',
    'SVC_OBSERVABILITY_TOKEN',
  ])
  // Each finished pipeline was sent once; one waits. Requests of the killed process are repeated after the end of their lease, which this test does not await.
  expect(rows(directory.path, "select count(distinct key) from deliveries where queue = 'exports'")).toEqual([
    3 * (count - 1),
  ])
  await service.end()
})

test.each([
  ['with an upstream', [], { PENSTOCK_UPSTREAM: 'http://127.0.0.1:9' }],
  ['with an endpoint of its own for exports', [], { PENSTOCK_EXPORT_ENDPOINT: 'http://127.0.0.1:9' }],
  ['without the core', ['gateway'], {}],
] as const)('%s there is none', async (_, args, more) => {
  await using directory = await temporaryDirectory()
  const service = await serving([...args, '--sample'], { PENSTOCK_DATA_DIR: directory.path, ...more })
  expect(service.stdout.text).not.toContain('sample')
  expect(existsSync(join(directory.path, MARK))).toBe(false)
  if (args.length === 0) expect(pipelineIds(directory.path)).toEqual([])
  await service.end()
})
