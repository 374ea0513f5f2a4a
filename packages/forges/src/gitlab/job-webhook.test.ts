import { describe, expect, test } from 'vitest'
import { readInput } from '../read-input.ts'
import type { JobEvent } from '../record/job-event.ts'

const hook = {
  object_kind: 'build',
  build_id: 380,
  build_name: 'unit',
  build_stage: 'test',
  build_status: 'failed',
  build_created_at: '2026-02-11 09:20:14 UTC',
  build_started_at: '2026-02-11 09:20:20 UTC',
  build_finished_at: '2026-02-11 09:20:50 UTC',
  build_duration: 30.5,
  build_queued_duration: 6.0,
  build_allow_failure: true,
  user: { id: 3, name: 'Ada', username: 'ada', email: '[REDACTED]' },
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
    createdAtNs: 1_770_801_614_000_000_000n,
    startedAtNs: 1_770_801_620_000_000_000n,
    finishedAtNs: 1_770_801_650_000_000_000n,
    durationSeconds: 30.5,
    queuedSeconds: 6,
    allowFailure: true,
    user: { id: 3n, username: 'ada' },
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

test('the duration of a running job is not final', () => {
  expect(
    eventOf({ build_status: 'running', build_finished_at: null, build_duration: 5.2 }).durationSeconds,
  ).toBeUndefined()
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
