import { describe, expect, test } from 'vitest'
import type { PipelineRecord } from '../record.ts'
import { readInput } from './input.ts'
import { type JobEvent, withJobEvents } from './job-webhook.ts'

const hook = {
  object_kind: 'build',
  build_id: 380,
  build_name: 'unit',
  build_stage: 'test',
  build_status: 'failed',
  build_failure_reason: 'script_failure',
  retries_count: 1,
  pipeline_id: 31,
  project_id: 42,
  project_name: 'Group / Loom',
  project: { id: 42, name: 'Loom', web_url: 'https://ci.example.com/g/p', path_with_namespace: 'g/p' },
  commit: { id: 31, message: 'Fix' },
  runner: { id: 6, description: 'shared-6', active: true, tags: ['linux'] },
  environment: { name: 'staging', action: 'start' },
  source_pipeline: { project: { id: 42 }, pipeline_id: 30, job_id: 300 },
}

function eventOf(fields: object): JobEvent {
  const input = readInput({ ...hook, ...fields }, { receivedAtNs: 77n })
  if (input.kind !== 'job') throw new Error('no job')
  return input.event
}

test('reads every field of a hook', () => {
  expect(eventOf({})).toStrictEqual({
    pipelineId: 31n,
    rootPipelineId: undefined,
    upstream: {
      pipelineId: 30n,
      bridgeId: 300n,
      otherProject: false,
      projectWebUrl: undefined,
      projectId: 42n,
      projectPath: undefined,
    },
    project: { id: 42n, name: 'Loom', webUrl: 'https://ci.example.com/g/p', path: 'g/p' },
    jobId: 380n,
    name: 'unit',
    stage: 'test',
    status: 'failed',
    failureReason: 'script_failure',
    retriesCount: 1,
    runner: {
      id: 6n,
      description: 'shared-6',
      tags: ['linux'],
      type: undefined,
      active: true,
      isShared: undefined,
    },
    environment: { name: 'staging', action: 'start', deploymentTier: undefined },
    receivedAtNs: 77n,
  })
})

test('edge 56: unknown_failure on success is ignored', () => {
  expect(eventOf({ build_status: 'success', build_failure_reason: 'unknown_failure' }).failureReason).toBeUndefined()
})

test('reads an old hook without a project', () => {
  const repository = { name: 'Loom', homepage: 'https://ci.example.com/g/p' }
  expect(eventOf({ project: undefined, repository }).project).toEqual({
    id: 42n,
    name: undefined,
    webUrl: 'https://ci.example.com/g/p',
    path: undefined,
  })
})

test.each(['build_id', 'build_status', 'pipeline_id'])('edge 49: %s is required', (path) => {
  expect(() => eventOf({ [path]: undefined, commit: undefined })).toThrow(
    expect.objectContaining({ name: 'RecordError', path }),
  )
})

describe('withJobEvents', () => {
  function recordOf(...builds: object[]): PipelineRecord {
    const body = { object_attributes: { id: 31, status: 'failed' }, builds }
    const input = readInput(body, { receivedAtNs: undefined })
    if (input.kind !== 'pipeline') throw new Error('no pipeline')
    return input.record
  }
  const unit = { id: 380, name: 'unit', stage: 'test', status: 'failed' }
  const lint = { id: 381, name: 'lint', stage: 'test', status: 'success' }

  test('fills the missing values of the record', () => {
    const [first, second] = withJobEvents(recordOf(unit, lint), [eventOf({})]).jobs
    expect(first).toMatchObject({
      attempt: 2,
      failureReason: 'script_failure',
      runner: { id: 6n },
      environment: { name: 'staging' },
    })
    expect(second).toMatchObject({ attempt: undefined, runner: undefined })
  })

  test('keeps the values of the record', () => {
    const known = { ...unit, failure_reason: 'api_failure', runner: { id: 7 }, environment: { name: 'production' } }
    expect(withJobEvents(recordOf(known), [eventOf({})]).jobs[0]).toMatchObject({
      failureReason: 'api_failure',
      runner: { id: 7n },
      environment: { name: 'production' },
    })
    expect(
      withJobEvents(recordOf({ ...unit, status: 'success' }), [eventOf({})]).jobs[0]?.failureReason,
    ).toBeUndefined()
  })

  test('uses the last event that has a value', () => {
    const events = [
      eventOf({ retries_count: 0, runner: { id: 1 } }),
      eventOf({ retries_count: 1, runner: { id: 2 } }),
      eventOf({ retries_count: null, runner: null }),
    ]
    expect(withJobEvents(recordOf(unit), events).jobs[0]).toMatchObject({ attempt: 2, runner: { id: 2n } })
  })

  test('events of other pipelines and jobs change nothing', () => {
    const record = recordOf(unit)
    expect(withJobEvents(record, [])).toBe(record)
    expect(withJobEvents(record, [eventOf({ pipeline_id: 32 })])).toEqual(record)
    expect(withJobEvents(record, [eventOf({ build_id: 999 })])).toEqual(record)
  })

  test('does not change the keys of a job', () => {
    const record = recordOf(unit)
    const enriched = withJobEvents(record, [eventOf({})])
    expect(Object.keys(enriched)).toEqual(Object.keys(record))
    expect(Object.keys(enriched.jobs[0]!)).toEqual(Object.keys(record.jobs[0]!))
  })
})

describe('old job hooks have the id of the pipeline only in commit.id', () => {
  test.each<[string, object]>([
    ['a number', { pipeline_id: undefined, commit: { id: 2366 } }],
    ['digits', { pipeline_id: undefined, commit: { id: '2366' } }],
    ['beside null', { pipeline_id: null, commit: { id: 2366 } }],
  ])('%s', (_, fields) => expect(eventOf(fields).pipelineId).toBe(2366n))

  test('pipeline_id takes precedence', () => expect(eventOf({ commit: { id: 99 } }).pipelineId).toBe(31n))

  test.each<[object, string]>([
    [{ commit: { id: 'f'.repeat(40) } }, 'pipeline_id'],
    [{ commit: null }, 'pipeline_id'],
    [{ commit: { id: 0 } }, 'commit.id'],
  ])('%j is refused', (fields, path) => {
    expect(() => eventOf({ pipeline_id: undefined, ...fields })).toThrow(`${path}: must be an integer above 0`)
  })
})
