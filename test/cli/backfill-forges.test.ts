import { readFile } from 'node:fs/promises'
import { type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { root } from '../source-imports.ts'
import { receiver, spansIn, stateFile } from './backfill-run.ts'

// biome-ignore lint/suspicious/noExplicitAny: fixtures of many forms
type Json = any

const token = 'user:canary-token-7'
const basic = `Basic ${Buffer.from(token).toString('base64')}`

interface ForgeCase {
  readonly forge: string
  readonly project: string
  /** The fixture of the last run, below `fixtures`. */
  readonly fixture: string
  /** The path that is added to the server's URL. */
  readonly api: string
  readonly credentials: readonly [header: string, value: string]
  /** Returns the answers by path without its query, for two pages of lists where the forge has pages. */
  readonly answers: (run: Json) => Readonly<Record<string, Json>>
  /** Options of a conversion of the fixture that gives the same spans. */
  readonly convert?: readonly string[]
}

/** Marks an answer that depends on the query. */
const paged = (pages: readonly Json[], key = 'page') => ({ pages, key })

const cases: readonly ForgeCase[] = [
  {
    forge: 'gitea',
    project: 'pottery/wheel',
    fixture: 'pipelines/gitea-second-attempt-of-1-27',
    api: '/api/v1',
    credentials: ['authorization', `token ${token}`],
    answers: ({ run, jobs }) => ({
      '/repos/pottery/wheel/actions/runs': paged([{ total_count: 1, workflow_runs: [run] }]),
      '/repos/pottery/wheel/actions/runs/506/attempts/2': run,
      '/repos/pottery/wheel/actions/runs/506/attempts/2/jobs': paged([jobs]),
    }),
  },
  {
    forge: 'forgejo',
    project: 'weavers/loom',
    fixture: 'pipelines/forgejo-bundle-with-steps',
    api: '/api/v1',
    credentials: ['authorization', `token ${token}`],
    answers: ({ run, jobs }) => ({
      '/repos/weavers/loom/actions/runs': paged([{ total_count: 1, workflow_runs: [run] }]),
      '/repos/weavers/loom/actions/runs/706': run,
      '/repos/weavers/loom/actions/runs/706/jobs': paged([jobs, []]),
    }),
  },
  {
    forge: 'circleci',
    project: 'gh/kiln-works/glaze-mixer',
    fixture: 'pipelines/circleci-rest-bundle',
    api: '/api/v2',
    credentials: ['circle-token', token],
    answers: ({ pipeline, workflow, jobs }) => ({
      '/project/gh/kiln-works/glaze-mixer/pipeline': paged(
        [
          { items: [], next_page_token: 'two' },
          { items: [pipeline], next_page_token: null },
        ],
        'page-token',
      ),
      [`/pipeline/${pipeline.id}`]: pipeline,
      [`/pipeline/${pipeline.id}/workflow`]: { items: [workflow], next_page_token: null },
      [`/workflow/${workflow.id}`]: { ...workflow, pipeline_id: pipeline.id },
      [`/workflow/${workflow.id}/job`]: paged(
        [
          { items: jobs.slice(0, 1), next_page_token: 'two' },
          { items: jobs.slice(1), next_page_token: null },
        ],
        'page-token',
      ),
    }),
  },
  {
    forge: 'buildkite',
    project: 'kiln-works/furnace',
    fixture: 'pipelines/buildkite-build-of-the-api',
    api: '/v2',
    credentials: ['authorization', `Bearer ${token}`],
    answers: (build) => ({
      '/organizations/kiln-works/pipelines/furnace/builds': paged([[build], []]),
      [`/organizations/kiln-works/pipelines/furnace/builds/${build.number}`]: build,
    }),
  },
  {
    forge: 'azure',
    project: 'Kilns',
    fixture: 'pipelines/azure-build-of-one-job',
    api: '',
    credentials: ['authorization', basic],
    answers: ({ build, timeline }) => ({
      '/Kilns/_apis/build/builds': { count: 1, value: [build] },
      [`/Kilns/_apis/build/builds/${build.id}`]: build,
      [`/Kilns/_apis/build/builds/${build.id}/timeline`]: timeline,
    }),
  },
  {
    forge: 'bitbucket',
    project: 'kiln-works/shelf',
    fixture: 'pipelines/bitbucket-push-to-main',
    api: '/2.0',
    credentials: ['authorization', basic],
    answers: ({ pipeline, steps }) => {
      const path = `/repositories/kiln-works/shelf/pipelines/${encodeURIComponent(pipeline.uuid)}`
      return {
        '/repositories/kiln-works/shelf/pipelines': paged([{ size: 1, values: [pipeline] }]),
        [path]: pipeline,
        [`${path}/steps`]: paged([{ values: Array.isArray(steps) ? steps : steps.values }, { values: [] }]),
      }
    },
  },
  {
    forge: 'woodpecker',
    project: 'kiln-works/kiln',
    fixture: 'unnamed/woodpecker-tag',
    api: '/api',
    credentials: ['authorization', `Bearer ${token}`],
    answers: (pipeline) => ({
      '/repos/lookup/kiln-works/kiln': { id: 3, full_name: 'kiln-works/kiln' },
      '/repos/3/pipelines': paged([[{ ...pipeline, workflows: undefined }], []]),
      [`/repos/3/pipelines/${pipeline.number}`]: pipeline,
    }),
    convert: ['--instance-id', 'x', '--project', 'kiln-works/kiln'],
  },
  {
    forge: 'drone',
    project: 'kiln-works/kiln',
    fixture: 'unnamed/drone-build-of-the-api',
    api: '/api',
    credentials: ['authorization', `Bearer ${token}`],
    answers: (build) => ({
      '/repos/kiln-works/kiln/builds': paged([[{ ...build, stages: undefined }], []]),
      [`/repos/kiln-works/kiln/builds/${build.number}`]: build,
    }),
    convert: ['--instance-id', 'x', '--project', 'kiln-works/kiln'],
  },
  {
    forge: 'jenkins',
    project: 'kiln-works/wheel',
    fixture: 'pipelines/jenkins-multibranch-build',
    api: '',
    credentials: ['authorization', basic],
    answers: ({ build, stages }) => {
      const branch = '/job/kiln-works/job/wheel/job/feature%252Fslow-start'
      const { actions: _, ...listed } = build
      return {
        '/job/kiln-works/job/wheel/api/json': { jobs: [{ name: 'feature%2Fslow-start' }] },
        [`${branch}/api/json`]: { allBuilds: [listed] },
        [`${branch}/14/api/json`]: build,
        [`${branch}/14/wfapi/describe`]: stages,
      }
    },
  },
]

/** Starts a forge with fixed answers, which refuses other credentials. */
async function forgeWith({ api, credentials: [header, value] }: ForgeCase, answers: Readonly<Record<string, Json>>) {
  const server = await ScriptedServer.start(({ path, headers }): ScriptedReply => {
    if (headers[header] !== value) return json({ message: 'who are you?' }, 401)
    const url = new URL(path, 'http://forge')
    const answer = answers[url.pathname.slice(api.length)]
    if (answer === undefined) return json({ message: 'not found' }, 404)
    if (answer.pages === undefined) return json(answer)
    const number =
      answer.key === 'page' ? Number(url.searchParams.get('page')) : url.searchParams.has(answer.key) ? 2 : 1
    return json(answer.pages[number - 1] ?? [])
  })
  onTestFinished(() => server.close())
  return server
}

const json = (body: Json, status = 200): ScriptedReply => ({
  play: 'reply',
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe.each(cases)('a backfill from $forge', (forge) => {
  test('sends the run of the fixture as it is converted, once', async () => {
    const file = `${root}/fixtures/${forge.fixture}.json`
    const given: Json = JSON.parse(await readFile(file, 'utf8'))
    const run: Json = Array.isArray(given) ? given.at(-1) : given
    const server = await forgeWith(forge, forge.answers(run))
    const sink = await receiver()
    const where = [
      '--from',
      server.url,
      '--project',
      forge.project,
      '--endpoint',
      sink.url,
      '--state-file',
      await stateFile(),
    ]
    const args = ['backfill', '--forge', forge.forge, '--signals', 'traces', ...where]
    const world = { env: { PENSTOCK_FORGE_TOKEN: token } }
    const outcome = await penstock(args, world)
    expect(outcome.stderr).not.toContain('canary')
    expect(outcome).toMatchObject({ exitCode: 0 })
    const names = spansIn(sink.requests).map(({ name }) => name)

    const converted = await penstock(
      ['convert', '--forge', forge.forge, '--signals', 'traces', ...(forge.convert ?? []), '-'],
      {
        stdin: JSON.stringify(run),
      },
    )
    const spans: Json[] = JSON.parse(converted.stdout).resourceSpans.flatMap(({ scopeSpans }: Json) =>
      scopeSpans.flatMap(({ spans }: Json) => spans),
    )
    expect(names.toSorted()).toEqual(spans.map(({ name }) => name).toSorted())

    const before = server.requests.length
    expect((await penstock(args, world)).stdout).toContain('nothing to send')
    expect(sink.requests).toHaveLength(1)
    expect(server.requests.length).toBeGreaterThan(before)
  })

  test('ends with a clear error if the token is refused', async () => {
    const server = await forgeWith(forge, {})
    const sink = await receiver()
    const where = [
      '--from',
      server.url,
      '--project',
      forge.project,
      '--endpoint',
      sink.url,
      '--state-file',
      await stateFile(),
    ]
    const outcome = await penstock(['backfill', '--forge', forge.forge, ...where], {
      env: { PENSTOCK_FORGE_TOKEN: 'old:one' },
    })
    expect(outcome.exitCode).toBe(1)
    expect(outcome.stderr).toContain('HTTP 401 Unauthorized: the access token is wrong or expired')
  })
})

test('builds of two branches of Jenkins that have the same number are both sent, once', async () => {
  const jenkins = cases.find(({ forge }) => forge === 'jenkins')!
  const { build, stages } = JSON.parse(await readFile(`${root}/fixtures/${jenkins.fixture}.json`, 'utf8'))
  const { actions: _, ...listed } = build
  const folder = '/job/kiln-works/job/wheel'
  const branch = (name: string) => {
    const path = `${folder}/job/${encodeURIComponent(name)}`
    const urls = { url: `https://ci.example.com${path}/14/` }
    return {
      [`${path}/api/json`]: { allBuilds: [{ ...listed, ...urls }] },
      [`${path}/14/api/json`]: { ...build, ...urls },
      [`${path}/14/wfapi/describe`]: stages,
    }
  }
  const names = ['main', 'feature%2Fslow-start']
  const server = await forgeWith(jenkins, {
    [`${folder}/api/json`]: { jobs: names.map((name) => ({ name })) },
    ...Object.assign({}, ...names.map(branch)),
  })
  const sink = await receiver()
  const where = ['--from', server.url, '--project', jenkins.project, '--endpoint', sink.url]
  const args = ['backfill', '--forge', 'jenkins', '--signals', 'traces', ...where, '--state-file', await stateFile()]
  const world = { env: { PENSTOCK_FORGE_TOKEN: token } }
  expect(await penstock(args, world)).toMatchObject({ exitCode: 0 })
  const runs = () => spansIn(sink.requests).filter(({ parentSpanId }) => !parentSpanId)
  expect(runs()).toHaveLength(2)
  expect((await penstock(args, world)).stdout).toContain('nothing to send')
  expect(runs()).toHaveLength(2)
})
