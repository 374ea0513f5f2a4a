import { expect, test } from 'vitest'
import type { Comparison, JobDifference, MedianRun } from '../../api/answers.ts'
import { createSpanTree, jobSpan, pipelineSpan, readFixtureTree } from './trace-model.harness.ts'
import { hasUsualDuration, usualDuration } from './usual-duration.ts'

const median: MedianRun = {
  kind: 'median',
  service: 'svc',
  project: 'shop/web',
  ref: 'main',
  ref_kind: 'default_branch',
  name: 'web',
  trigger: 'push',
  trace_ids: [],
  runs: 20,
  duration_seconds: 100,
  queue_seconds: null,
}

const difference = (name: string, stage: string | null, b_seconds: number | null): JobDifference => ({
  name,
  stage,
  a_seconds: null,
  b_seconds,
  delta_seconds: null,
  a_status: null,
  b_status: null,
  change: 'same',
})

const compared = (...jobs: readonly JobDifference[]): Comparison => ({
  a: {} as Comparison['a'],
  b: median,
  base: 'b',
  jobs,
})

const longJob = { 'cicd.pipeline.task.name': 'unit', 'job.status': 'success' }

const nodeOf = (id: string, seconds: number, more: object = longJob) =>
  createSpanTree([pipelineSpan('run', '', 0, 130), jobSpan(id, 'run', 0, seconds, more)]).nodes.get(id)!

test.each([
  ['longer', 20, 11, 9],
  ['shorter', 20, 29, -9],
  ['different by less than a second', 1.9, 1.2, 0],
  ['different by less than 5 %', 104, 100, 0],
])('a job that is %s', (_, seconds, usual, longerSeconds) => {
  const jobs = [difference('unit', 'deploy', 500), difference('unit', 'test', usual)]
  expect(usualDuration(compared(...jobs), nodeOf('job', seconds))).toEqual({
    seconds: usual,
    runs: 20,
    longerSeconds,
  })
})

test('the pipeline is compared with the median of whole runs', () => {
  const run = nodeOf('job', 9).parent!
  expect(usualDuration(compared(), run)).toMatchObject({ seconds: 100, longerSeconds: 30 })
})

test('a job that runs or never ran has a usual duration and no difference', () => {
  const jobs = compared(difference('unit', 'test', 60))
  for (const status of ['running', 'skipped']) {
    const node = nodeOf('job', status === 'skipped' ? 0 : 5, { ...longJob, 'job.status': status })
    expect(usualDuration(jobs, node)).toMatchObject({ seconds: 60, longerSeconds: undefined })
  }
})

test('a job that the median does not have, or that is compared with another run, has none', () => {
  const node = nodeOf('job', 9)
  expect(usualDuration(compared(difference('unit', 'test', null), difference('lint', 'test', 9)), node)).toBeUndefined()
  expect(usualDuration({ ...compared(), b: {} as Comparison['a'] }, node)).toBeUndefined()
})

test('only the root pipeline and its jobs have a usual duration', () => {
  const tree = readFixtureTree('child-pipeline-of-a-bridge', 'parent-pipeline-with-bridges')
  const named = [...tree.nodes.values()].filter(hasUsualDuration).map(({ span }) => span.name)
  expect(named.toSorted()).toEqual([
    'RUN Braukessel Überwachung',
    'job: collect',
    'job: image',
    'job: kessel-nord',
    'job: kessel-sued',
  ])
})
