import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from './body/fields.ts'
import { parseLossless } from './body/lossless-json.ts'
import { capturedBody } from './forge/foreign-bodies.ts'
import type { Forge } from './forge/forge.ts'
import { forges } from './forges.ts'
import { isRestJob } from './gitlab/rest-jobs.ts'
import { nearMisses, readableBodies } from './recognise.ts'

const pipeline = { id: 31, status: 'success', sha: 'f'.repeat(40), ref: 'main' }

const githubRun = {
  id: 1,
  name: 'CI',
  node_id: 'W',
  status: 'completed',
  run_number: 2,
  run_attempt: 1,
  head_sha: 'f',
  url: 'https://api.github.com/repos/g/p/actions/runs/1',
}
const githubJob = { id: 1, name: 'unit', status: 'completed', run_id: 2, head_sha: 'f', node_id: 'J' }
const githubRepository = { full_name: 'g/p', url: 'https://api.github.com/repos/g/p' }
const giteaRun = {
  id: 1,
  status: 'completed',
  run_number: 2,
  run_attempt: 0,
  head_sha: 'f',
  url: 'https://gitea.example.com/api/v1/repos/g/p/actions/runs/1',
}
const giteaJob = {
  id: 1,
  name: 'unit',
  status: 'completed',
  run_id: 2,
  head_sha: 'f',
  run_url: 'https://gitea.example.com/api/v1/repos/g/p/actions/runs/2',
}
const giteaRepository = { full_name: 'g/p', url: 'https://gitea.example.com/api/v1/repos/g/p' }
const forgejoRun = { id: 1, status: 'success', index_in_repo: 2, commit_sha: 'f', prettyref: 'main' }

/** A body of each form that is read, and of each that users mistake for a record. */
const examples: Readonly<Record<string, JsonObject>> = {
  'pipeline hook': { object_kind: 'pipeline', object_attributes: pipeline },
  'job hook': { object_kind: 'build', build_id: 380, build_status: 'success', pipeline_id: 31 },
  'relayed pipeline hook': { object_attributes: pipeline },
  'relayed job hook': { build_id: 380, build_status: 'success', pipeline_id: 31 },
  'REST bundle': { pipeline, jobs: [] },
  'REST bundle with bridges alone': { pipeline, bridges: [] },
  'pipeline with its jobs': { ...pipeline, jobs: [] },
  'REST job': { id: 380, name: 'unit', stage: 'test', status: 'success', pipeline },
  'github run': { action: 'completed', workflow_run: githubRun, repository: githubRepository, sender: { login: 'a' } },
  'github job': { action: 'completed', workflow_job: githubJob, repository: githubRepository, sender: { login: 'a' } },
  'github bundle': { run: githubRun, jobs: [githubJob] },
  'gitea run': { action: 'completed', workflow_run: giteaRun, repository: giteaRepository, sender: { login: 'a' } },
  'gitea job': { action: 'completed', workflow_job: giteaJob, repository: giteaRepository, sender: { login: 'a' } },
  'gitea bundle': { run: giteaRun, jobs: { total_count: 1, workflow_jobs: [giteaJob] } },
  'forgejo run': { action: 'success', run: forgejoRun, prior_status: 'running' },
  'forgejo bundle': { run: forgejoRun, jobs: [] },
  'GitHub run': githubRun,
  'GitHub job': githubJob,
  'GitHub run without jobs': { run: githubRun },
  'GitHub list': { total_count: 1, workflow_runs: [githubRun] },
  'GitHub list of jobs': { total_count: 1, jobs: [githubJob] },
  'GitHub check': { action: 'completed', check_run: { id: 1 } },
  'Forgejo run': forgejoRun,
  'Forgejo run without jobs': { run: forgejoRun },
  'Forgejo job': { id: 1, name: 'unit', status: 'success', task_id: 2, runs_on: ['docker'] },
  CircleCI: { id: 'x', name: 'build', status: 'success', project_slug: 'gh/g/p', pipeline_number: 2 },
  'CircleCI workflow hook': { type: 'workflow-completed', id: 'x', workflow: { id: 'x' }, pipeline: { id: 'x' } },
  'CircleCI job hook': { type: 'job-completed', id: 'x', job: { id: 'x' }, workflow: {}, pipeline: { id: 'x' } },
  'CircleCI bundle': { pipeline: { id: 'x' }, workflow: { id: 'x', status: 'success' }, jobs: [] },
  'Buildkite build hook': { event: 'build.finished', build: { id: 'x' }, pipeline: { id: 'x' }, sender: {} },
  'Buildkite job hook': { event: 'job.finished', job: { id: 'x' }, build: { id: 'x' }, pipeline: {}, sender: {} },
  'Buildkite build': { id: 'x', number: 2, state: 'passed', commit: 'f', branch: 'main', jobs: [] },
  Buildkite: { id: 'x', number: 2, state: 'passed', commit: 'f', branch: 'main' },
  'Azure build hook': { id: 'x', eventType: 'build.complete', publisherId: 'tfs', message: {}, resource: { id: 2 } },
  'Azure bundle': { build: { id: 2 }, timeline: { records: [] } },
  'Azure build': { id: 2, buildNumber: '20260501.1', status: 'completed', result: 'succeeded' },
  'Azure timeline': { id: 'x', records: [], changeId: 3 },
  'Bitbucket bundle': { pipeline: { uuid: '{x}', state: {} }, steps: [] },
  Bitbucket: { uuid: '{x}', build_number: 2, state: { name: 'COMPLETED' } },
  'Woodpecker pipeline': { id: 7, number: 2, status: 'success', event: 'push', commit: 'f', parent: 0, workflows: [] },
  Woodpecker: { id: 7, number: 2, status: 'success', event: 'push', commit: 'f', parent: 0 },
  'Drone hook': { event: 'build', action: 'updated', repo: { id: 1 }, build: { id: 2 }, system: {} },
  'Drone build': { id: 7, number: 2, status: 'success', event: 'push', after: 'f', repo_id: 1, stages: [] },
  Drone: { id: 7, number: 2, status: 'success', event: 'push', after: 'f', repo_id: 1 },
  Jenkins: { _class: 'hudson.model.FreeStyleBuild', number: 2, building: false, result: 'SUCCESS' },
  'Jenkins build hook': { name: 'x', url: 'job/x/', build: { full_url: 'x', number: 2, phase: 'FINALIZED' } },
  'Jenkins bundle': { build: { number: 2, url: 'x' }, stages: { stages: [] } },
  'Jenkins stages': { _links: {}, id: '14', name: '#14', status: 'SUCCESS', durationMillis: 5, stages: [] },
  'captured request': { headers: {}, body: { object_kind: 'pipeline' } },
  'Penstock record': { penstockRecord: 1, run: { id: 'x', status: 'success' } },
  'CDEvents run': {
    specversion: '1.0',
    type: 'dev.cdevents.pipelinerun.finished.0.2.0',
    id: 'x',
    data: { subject: {} },
  },
  'CDEvents task': { specversion: '1.0', type: 'dev.cdevents.taskrun.finished.0.2.0', id: 'x', data: { subject: {} } },
  OTLP: { resourceSpans: [] },
  CloudEvent: { specversion: '1.0', type: 'x', id: 'x', data: {} },
  'GraphQL answer': { data: { project: null } },
  'merge request': {
    id: 1,
    iid: 2,
    source_branch: 'x',
    target_branch: 'main',
    sha: 'f',
    pipeline,
    head_pipeline: pipeline,
  },
  'merge train': { id: 1, merge_request: { iid: 2 }, pipeline, target_branch: 'main', status: 'merged' },
  package: { id: 1, name: 'x', version: '1', package_type: 'npm', status: 'default', pipeline },
  deployment: { id: 9, iid: 1, sha: 'f', status: 'success', environment: { name: 'x' }, deployable: null },
  'pipeline schedule': { id: 13, ref: 'main', cron: '* * * * *', last_pipeline: pipeline },
  'test report': { total_time: 5, total_count: 1, test_suites: [] },
  'REST pipeline': pipeline,
  'pipeline without jobs': { pipeline },
  'pipeline and project without jobs': { project: { id: 1 }, pipeline, commit: {} },
  'job without its pipeline': { id: 380, name: 'unit', stage: 'test', status: 'success' },
  project: { id: 1, name: 'x', path_with_namespace: 'g/p' },
  'error answer': { message: '401 Unauthorized' },
}

/** Returns the forms that a body matches. */
const matchingForms = (body: JsonObject): string[] => [
  ...readableBodies.filter(({ matches }) => matches(body)).map(({ kind }) => `read as ${kind}`),
  ...nearMisses.filter(({ matches }) => matches(body)).map(({ name }) => name),
]

describe('the signatures exclude each other', () => {
  test.each(Object.entries(examples))('%s', (name, body) => {
    expect(matchingForms(body)).toHaveLength(1)
    if (nearMisses.some((miss) => miss.name === name)) expect(matchingForms(body)).toEqual([name])
  })

  test.each(Object.entries(examples))('%s without any one of its members', (_, body) => {
    for (const key of Object.keys(body)) {
      const { [key]: removed, ...rest } = body
      expect({ key, count: matchingForms(rest).length }).toEqual({ key, count: expect.toBeOneOf([0, 1]) })
    }
  })

  test('every signature has an example', () => {
    const found = new Set(Object.values(examples).flatMap(matchingForms))
    for (const { kind } of readableBodies) expect(found).toContain(`read as ${kind}`)
    for (const { name } of nearMisses) expect(found).toContain(name)
  })
})

const folder = join(import.meta.dirname, '../../../fixtures/pipelines')

test.each(readdirSync(folder))('each body of %s is read in one way', (file) => {
  const value = parseLossless(readFileSync(join(folder, file), 'utf8'))
  for (const given of Array.isArray(value) ? value : [value]) {
    const captured = capturedBody(given)
    const body = typeof captured === 'string' ? parseLossless(captured) : (captured ?? given)
    if (!isObject(body) || isRestJob(body)) continue
    const { gitlab: _, ...others } = forges
    const kind = body.object_kind ?? body.event_name
    const isOtherHook =
      (typeof kind === 'string' && !['pipeline', 'build'].includes(kind)) ||
      Object.values<Forge>(others).some((forge) => forge.otherHook(body) !== undefined)
    expect(matchingForms(body).filter((each) => each.startsWith('read as'))).toHaveLength(isOtherHook ? 0 : 1)
  }
})
