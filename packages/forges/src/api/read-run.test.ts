import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../body/fields.ts'
import { fixtureBodies, readRecord } from '../forge-fixtures.harness.ts'
import { type ForgeName, forges } from '../forges.ts'
import { RecordError } from '../record/record-error.ts'
import { type Answers, FixedApi, onePerPage, reply } from './rest-api.harness.ts'
import type { ForgeApi, RunReference } from './rest-api.ts'

/** Returns the last body of a fixture, a bundle. */
function bundleOf(fixture: string): JsonObject {
  const [found] = fixtureBodies(`${fixture}.json`)
  return found!.bodies.at(-1)!
}

const apiOf = (forge: ForgeName): ForgeApi => (forges[forge] as { api?: ForgeApi }).api!

interface Case {
  readonly forge: ForgeName
  readonly fixture: string
  readonly reference: RunReference
  readonly answers: (bundle: JsonObject) => Answers
  /** The path of the run. */
  readonly run: string
}

const list = (value: unknown, member: string): readonly JsonObject[] =>
  (Array.isArray(value) ? value : (value as JsonObject)[member]) as JsonObject[]

const actions = '/repos/a/b/actions/runs/7'
const circleci = 'fcd63345-a033-4b75-8621-57c9beb97694'

const cases: readonly Case[] = [
  {
    forge: 'github',
    fixture: 'github-push-run',
    reference: { project: 'a/b', run: '7', attempt: 1 },
    run: `${actions}/attempts/1`,
    answers: ({ run, jobs }) => ({
      [`${actions}/attempts/1`]: run,
      [`${actions}/attempts/1/jobs`]: onePerPage('jobs', list(jobs, 'jobs')),
    }),
  },
  {
    forge: 'github',
    fixture: 'github-two-attempts',
    reference: { project: 'a/b', run: '7', attempt: 2 },
    run: `${actions}/attempts/2`,
    answers: ({ run, jobs }) => ({
      [`${actions}/attempts/2`]: run,
      [`${actions}/attempts/2/jobs`]: onePerPage('jobs', list(jobs, 'jobs')),
    }),
  },
  {
    forge: 'gitea',
    fixture: 'gitea-rest-bundle',
    reference: { project: 'a/b', run: '7' },
    run: actions,
    answers: ({ run, jobs }) => ({
      [actions]: run,
      [`${actions}/jobs`]: onePerPage('jobs', list(jobs, 'jobs')),
    }),
  },
  {
    forge: 'gitea',
    fixture: 'gitea-second-attempt-of-1-27',
    reference: { project: 'a/b', run: '7', attempt: 2 },
    run: `${actions}/attempts/2`,
    answers: ({ run, jobs }) => ({
      [`${actions}/attempts/2`]: run,
      [`${actions}/attempts/2/jobs`]: onePerPage('jobs', list(jobs, 'jobs')),
    }),
  },
  {
    forge: 'forgejo',
    fixture: 'forgejo-bundle-with-steps',
    reference: { project: 'a/b', run: '7' },
    run: actions,
    answers: ({ run, jobs }) => ({
      [actions]: run,
      [`${actions}/jobs`]: ({ page }: JsonObject) => reply(page === 1 ? jobs : []),
    }),
  },
  {
    forge: 'circleci',
    fixture: 'circleci-rest-bundle',
    reference: { project: 'gh/a/b', run: 'w' },
    run: '/workflow/w',
    answers: ({ pipeline, workflow, jobs }) => ({
      '/workflow/w': { ...(workflow as JsonObject), pipeline_id: circleci },
      [`/pipeline/${circleci}`]: pipeline,
      '/workflow/w/job': ({ 'page-token': token = 0 }: JsonObject) => {
        const items = list(jobs, 'items')
        const next = Number(token) + 1
        return reply({ items: items.slice(next - 1, next), next_page_token: next < items.length ? String(next) : null })
      },
    }),
  },
  {
    forge: 'buildkite',
    fixture: 'buildkite-retried-job',
    reference: { project: 'o/p', run: '7' },
    run: '/organizations/o/pipelines/p/builds/7',
    answers: (build) => ({ '/organizations/o/pipelines/p/builds/7': build }),
  },
  {
    forge: 'azure',
    fixture: 'azure-stages-and-a-partial-success',
    reference: { project: 'p', run: '7' },
    run: '/p/_apis/build/builds/7',
    answers: ({ build, timeline }) => ({
      '/p/_apis/build/builds/7': build,
      '/p/_apis/build/builds/7/timeline': timeline,
    }),
  },
  {
    forge: 'azure',
    fixture: 'azure-build-that-never-ran',
    reference: { project: 'p', run: '7' },
    run: '/p/_apis/build/builds/7',
    answers: ({ build }) => ({ '/p/_apis/build/builds/7': build }),
  },
  {
    forge: 'bitbucket',
    fixture: 'bitbucket-paused-then-deployed',
    reference: { project: 'w/r', run: '{u}' },
    run: '/repositories/w/r/pipelines/%7Bu%7D',
    answers: ({ pipeline, steps }) => ({
      '/repositories/w/r/pipelines/%7Bu%7D': pipeline,
      '/repositories/w/r/pipelines/%7Bu%7D/steps': ({ page }: JsonObject) => {
        const items = list(steps, 'values')
        return reply({ size: items.length, page, values: items.slice(Number(page) - 1, Number(page)) })
      },
    }),
  },
  {
    forge: 'woodpecker',
    fixture: 'woodpecker-failed-pull-request',
    reference: { project: 'a/b', run: '7' },
    run: '/repos/3/pipelines/7',
    answers: (pipeline) => ({ '/repos/lookup/a/b': { id: 3 }, '/repos/3/pipelines/7': pipeline }),
  },
  {
    forge: 'drone',
    fixture: 'drone-build-of-the-api',
    reference: { project: 'a/b', run: '7' },
    run: '/repos/a/b/builds/7',
    answers: (build) => ({ '/repos/a/b/builds/7': build }),
  },
  {
    forge: 'jenkins',
    fixture: 'jenkins-multibranch-build',
    reference: { project: 'team/app/feature%2Flogin', run: '7' },
    run: '/job/team/job/app/job/feature%252Flogin/7/api/json',
    answers: ({ build, stages }) => {
      const path = '/job/team/job/app/job/feature%252Flogin/7'
      const listed = list(stages, 'stages')
      const nodes = listed.map((stage) => [`${path}/execution/node/${stage.id}/wfapi/describe`, stage])
      const bare = listed.map(({ stageFlowNodes: _, ...stage }) => stage)
      return {
        [`${path}/api/json`]: build,
        [`${path}/wfapi/describe`]: { ...(stages as JsonObject), stages: bare },
        ...Object.fromEntries(nodes),
      }
    },
  },
  {
    forge: 'jenkins',
    fixture: 'jenkins-freestyle-build',
    reference: { project: 'app', run: '7' },
    run: '/job/app/7/api/json',
    answers: ({ build }) => ({ '/job/app/7/api/json': build }),
  },
  {
    forge: 'gitlab',
    fixture: 'rest-bundle-retried-attempts-and-bridges',
    reference: { project: '17', run: '7' },
    run: '/projects/17/pipelines/7',
    answers: ({ pipeline, jobs, bridges }) => ({
      '/projects/17/pipelines/7': pipeline,
      '/projects/17/pipelines/7/jobs': ({ page }: JsonObject) => reply(page === 1 ? jobs : []),
      '/projects/17/pipelines/7/bridges': ({ page }: JsonObject) => reply(page === 1 ? bridges : []),
    }),
  },
]

describe.each(cases)('$forge: $fixture', ({ forge, fixture, reference, answers, run }) => {
  const bundle = bundleOf(fixture)

  test('is read from the API as the bundle of the fixture', async () => {
    const api = new FixedApi(answers(bundle))
    const answer = await apiOf(forge).readRun(api.ask, reference)
    if (answer.kind !== 'bundle') throw new Error('gone')
    const { project, ...given } = bundle
    expect(readRecord({ ...answer.bundle, ...(forge === 'gitlab' && { project }) })).toEqual(readRecord(bundle))
    expect(given).toBeDefined()
  })

  test('a run that does not exist is gone', async () => {
    const { [run]: _, ...others } = answers(bundle)
    const remaining = Object.fromEntries(Object.entries(others).filter(([path]) => !path.startsWith(`${run}/`)))
    expect(await apiOf(forge).readRun(new FixedApi(remaining).ask, reference)).toEqual({ kind: 'gone' })
  })

  test('a run that is longer than 32 MiB is refused', async () => {
    if (forge === 'gitlab') return // Its limit is that of the caller.
    const { ask } = new FixedApi(answers(bundle))
    const long = async (request: Parameters<typeof ask>[0]) => {
      const answer = await ask(request)
      return answer && { ...answer, bytes: 33 * 1_024 * 1_024 }
    }
    await expect(apiOf(forge).readRun(long, reference)).rejects.toThrow('the run is longer than 33554432 bytes')
  })
})

describe('a missing list of jobs', () => {
  const run = { id: 7, run_attempt: 1 }

  test('is an error while the run exists', async () => {
    const { ask } = new FixedApi({ [`${actions}/attempts/1`]: run, [actions]: run })
    const reading = apiOf('github').readRun(ask, { project: 'a/b', run: '7', attempt: 1 })
    await expect(reading).rejects.toThrow(
      /^\/repos\/a\/b\/actions\/runs\/7\/attempts\/1\/jobs: HTTP 404, although the run exists/,
    )
  })

  test('means that the run is gone if the run no longer exists', async () => {
    const { ask } = new FixedApi({ [`${actions}/attempts/1`]: run })
    expect(await apiOf('github').readRun(ask, { project: 'a/b', run: '7', attempt: 1 })).toEqual({ kind: 'gone' })
  })
})

test('a run of Gitea is read with the name of its workflow, which is asked for once', async () => {
  const { workflow, run, jobs } = bundleOf('gitea-1-26-matrix-rest')
  const workflowPath = '/repos/a/b/actions/workflows/ci.yml'
  const api = new FixedApi({ [actions]: run, [`${actions}/jobs`]: jobs, [workflowPath]: workflow })
  const memory = new Map<string, string>()
  for (const _ of [1, 2]) {
    const answer = await apiOf('gitea').readRun(api.ask, { project: 'a/b', run: '7' }, memory)
    expect(answer.kind === 'bundle' && readRecord(answer.bundle).name).toBe('CI')
  }
  expect(api.asked.filter((path) => path === workflowPath)).toHaveLength(1)
})

test('a run with more than 10,000 jobs is refused', async () => {
  const { ask } = new FixedApi({
    [actions]: { id: 7 },
    [`${actions}/jobs`]: ({ page }: JsonObject) =>
      reply(Array.from({ length: 5_000 }, (_, at) => ({ id: Number(page) * 5_000 + at }))),
  })
  const reading = apiOf('gitea').readRun(ask, { project: 'a/b', run: '7' })
  await expect(reading).rejects.toThrow('the list has more than 10,000 items or does not end')
})

test.each(['..', '', 'a/..', 'a//b'])('the project %j leads to no other path', async (project) => {
  const { ask, asked } = new FixedApi({})
  await expect(apiOf('github').readRun(ask, { project, run: '7' })).rejects.toThrow(RecordError)
  await expect(apiOf('github').readRun(ask, { project: 'a/b', run: '..' })).rejects.toThrow(RecordError)
  expect(asked).toEqual([])
})

test.each(['github', 'gitlab', 'circleci'] as const)(
  '%s: a name that UTF-8 cannot express is refused',
  async (forge) => {
    const reading = apiOf(forge).readRun(new FixedApi({}).ask, { project: 'a/\ud800', run: '\ud800' })
    await expect(reading).rejects.toThrow(RecordError)
  },
)

test('the id of a repository of Woodpecker leads to no other path', async () => {
  const { ask, asked } = new FixedApi({ '/repos/lookup/a/b': { id: '../../user' } })
  await apiOf('woodpecker').readRun(ask, { project: 'a/b', run: '7' })
  expect(asked.at(-1)).toBe('/repos/..%2F..%2Fuser/pipelines/7')
})
