import { describe, expect, test } from 'vitest'
import type { JobOfPipeline, Pipeline } from './pipeline.ts'
import { baseName, outcomeOf, pipelineKeyOfStage, stagesOf } from './stage.ts'

test.each([
  ['unit 1/2', 'unit'],
  ['unit 1 / 2', 'unit'],
  ['unit: 1:2', 'unit'],
  ['build: [linux, arm64]', 'build'],
  ['build: [linux, arm64] 2/3', 'build'],
  ['unit1/2', 'unit1/2'],
  ['unit 12', 'unit 12'],
  ['1/2', '1/2'],
  [' 1/2', ' 1/2'],
  ['a [b]', 'a'],
])('the job %j belongs to the group %j', (name, base) => {
  expect(baseName(name)).toBe(base)
})

describe('the combined status of jobs', () => {
  test.each([
    ['success success', 'success'],
    ['success failed', 'failed'],
    ['failed? success', 'success'],
    ['failed?', 'success'],
    ['skipped skipped', 'skipped'],
    ['success skipped', 'success'],
    ['success canceled', 'canceled'],
    ['failed canceled', 'failed'],
    ['created skipped', 'created'],
    ['created pending', 'pending'],
    ['success pending', 'running'],
    ['success created', 'running'],
    ['success manual', 'manual'],
    ['success manual?', 'success'],
    ['running failed', 'running'],
    ['success scheduled', 'scheduled'],
    ['canceling success', 'canceling'],
    ['success foo', 'foo'],
    ['foo failed', 'failed'],
  ])('of %s is %s', (words, status) => {
    const jobs = words.split(' ').map((word) => ({ status: word.replace('?', ''), allowFailure: word.endsWith('?') }))
    expect(outcomeOf(jobs)).toEqual({ status, hasWarnings: words.includes('failed?') })
  })
})

test('the pipeline of a stage is found by the id of the stage', () => {
  expect(pipelineKeyOfStage(2_147_483_647 * 100_000 + 20_000)).toBe(2_147_483_647)
})

test('the stage of posted statuses takes no place that a recorded stage may get', () => {
  const job = (id: number, stage: string, more: object = {}) =>
    ({
      id,
      stage,
      name: `job ${id}`,
      status: 'success',
      allowFailure: false,
      isRetried: false,
      ...more,
    }) as JobOfPipeline
  const idsOf = (...jobs: JobOfPipeline[]) =>
    Object.fromEntries(stagesOf({ key: 7 } as Pipeline, jobs).map(({ name, id }) => [name, id]))
  const posted = job(2 ** 51, 'external', { posted: {} })
  expect(idsOf(job(1, 'build'), posted)).toEqual({ build: 700_001, external: 700_000 })
  expect(idsOf(job(1, 'build'), job(2, 'test'), posted)).toEqual({ build: 700_001, test: 700_002, external: 700_000 })
})
