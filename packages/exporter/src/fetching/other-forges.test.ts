import { type Forge, type ForgeName, forges } from '@penstock/forges'
import { afterEach, expect, test } from 'vitest'
import { readBody } from '../records/received-body.ts'
import { findAnnouncedRun } from './announced-run.ts'
import { FetchingWorld, json, readFixture } from './fetching.harness.ts'

let world: FetchingWorld
afterEach(() => world.close())

// biome-ignore lint/suspicious/noExplicitAny: fixtures have many forms
type Hook = any
const lastHook = (name: string): Hook => [readFixture(name)].flat().at(-1)

const time = '2026-03-04T09:13:00Z'
const actionsJob = {
  id: 9,
  run_id: 7,
  name: 'unit',
  status: 'completed',
  conclusion: 'success',
  head_sha: 'a1',
  created_at: time,
  started_at: time,
  completed_at: time,
}

/** The answers of each forge about the run of a hook: by the end of the path, the first match first. */
const runs: readonly (readonly [
  ForgeName,
  string,
  (hook: Hook) => readonly (readonly [path: string, body: unknown])[],
])[] = [
  [
    'gitea',
    'gitea-job-hooks-then-run-hook',
    ({ workflow_run: run }) => [
      ['/jobs', { total_count: 1, workflow_jobs: [{ ...actionsJob, run_id: run.id, steps: [] }] }],
      ['/runs/501', run],
    ],
  ],
  [
    'forgejo',
    'forgejo-success',
    ({ run }) => [
      [
        '/jobs',
        { total_count: 1, jobs: [{ id: 9, name: 'unit', status: 'success', task_id: 9, runs_on: ['docker'] }] },
      ],
      ['/runs/701', run],
    ],
  ],
  [
    'azure',
    'azure-hook-of-version-2',
    ({ resource }) => [
      [
        '/timeline',
        {
          records: [
            {
              id: 'b1',
              parentId: null,
              type: 'Job',
              name: 'unit',
              state: 'completed',
              result: 'succeeded',
              startTime: time,
              finishTime: time,
            },
          ],
        },
      ],
      ['/builds/3007', resource],
    ],
  ],
  [
    'circleci',
    'circleci-workflow-hook',
    ({ workflow, pipeline, project }) => [
      [
        '/job',
        {
          items: [
            {
              id: 'b1',
              name: 'unit',
              type: 'build',
              status: 'success',
              job_number: 5,
              started_at: time,
              stopped_at: time,
            },
          ],
          next_page_token: null,
        },
      ],
      [
        `/workflow/${workflow.id}`,
        { ...workflow, pipeline_id: pipeline.id, project_slug: project.slug, pipeline_number: pipeline.number },
      ],
      [`/pipeline/${pipeline.id}`, { ...pipeline, project_slug: project.slug }],
    ],
  ],
  [
    'jenkins',
    'jenkins-notification-of-a-multibranch-build',
    ({ build }) => [
      [
        '/wfapi/describe',
        {
          _links: {},
          id: '14',
          durationMillis: 1,
          stages: [
            {
              id: '6',
              name: 'unit',
              status: 'SUCCESS',
              startTimeMillis: 1_785_571_200_000,
              durationMillis: 7,
              stageFlowNodes: [],
            },
          ],
        },
      ],
      [
        '/14/api/json',
        {
          _class: 'WorkflowRun',
          building: false,
          number: 14,
          result: 'SUCCESS',
          timestamp: 1_785_571_200_000,
          duration: 61_000,
          url: build.full_url,
          actions: [],
        },
      ],
    ],
  ],
]

test.each(runs)('%s: a run of a hook without jobs is read with its jobs', async (forge, fixture, answersTo) => {
  const hook = lastHook(fixture)
  const answers = answersTo(hook)
  world = await FetchingWorld.open(
    (path) => {
      const [pathname = ''] = path.split('?')
      const found = answers.find(([end]) => decodeURIComponent(pathname).toLowerCase().endsWith(end.toLowerCase()))
      return found && json(found[1])
    },
    { forge },
  )
  const text = JSON.stringify(hook)
  const { api: forgeApi }: Forge = forges[forge]
  const run = findAnnouncedRun({ forgeApi: forgeApi!, url: new URL(world.server.url), token: 'x' }, Buffer.from(text))
  expect(run).toBeDefined()
  await world.receiver.exporter.intake.enqueueShared({
    scope: 'source:forge',
    body: readBody(text, { forge }),
    receivedAtNs: world.clock.nowNs(),
    plan: async () => ({ signals: ['traces'], destination: 'source:forge' }),
    runReference: JSON.stringify(run),
  })
  await world.fetchAll()
  expect(world.receiver.logged).toBe('')
  expect(world.metric('read')).toBe(1)
  const [pipeline, job, ...others] = await world.exportAll()
  expect([pipeline, job, others]).toEqual([expect.stringMatching(/^RUN /), 'job: unit', []])
})
