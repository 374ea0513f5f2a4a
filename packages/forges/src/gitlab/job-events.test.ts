import { describe, expect, test } from 'vitest'
import { readInput } from '../read-input.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { PipelineRecord } from '../record/pipeline-record.ts'
import { mergedJobEvents, withJobEvents } from './job-events.ts'

const hook = {
  object_kind: 'build',
  build_id: 380,
  build_name: 'unit',
  build_stage: 'test',
  build_status: 'failed',
  build_failure_reason: 'script_failure',
  retries_count: 1,
  pipeline_id: 31,
  project: { id: 42, name: 'Loom', web_url: 'https://ci.example.com/g/p', path_with_namespace: 'g/p' },
  runner: { id: 6, description: 'shared-6', active: true, tags: ['linux'] },
  environment: { name: 'staging', action: 'start' },
}

function eventOf(fields: object): JobEvent {
  const input = readInput({ ...hook, ...fields }, { receivedAtNs: 77n })
  if (input.kind !== 'job') throw new Error('no job')
  return input.event
}

describe('withJobEvents', () => {
  function hookRecord(...builds: object[]): PipelineRecord {
    const finished_at = '2026-02-11 09:30:00 UTC'
    const body = { object_attributes: { id: 31, status: 'failed', finished_at }, builds }
    const input = readInput(body, { receivedAtNs: undefined })
    if (input.kind !== 'pipeline') throw new Error('no pipeline')
    return input.record
  }
  const unit = { id: 380, name: 'unit', stage: 'test', status: 'failed' }
  const lint = { id: 381, name: 'lint', stage: 'test', status: 'success' }

  test('fills the missing values of the record', () => {
    const [first, second] = withJobEvents(hookRecord(unit, lint), [eventOf({})]).jobs
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
    expect(withJobEvents(hookRecord(known), [eventOf({})]).jobs[0]).toMatchObject({
      failureReason: 'api_failure',
      runner: { id: 7n },
      environment: { name: 'production' },
    })
    expect(
      withJobEvents(hookRecord({ ...unit, status: 'success' }), [eventOf({})]).jobs[0]?.failureReason,
    ).toBeUndefined()
  })

  test('uses the last event that has a value', () => {
    const events = [
      eventOf({ retries_count: 0, runner: { id: 1 } }),
      eventOf({ retries_count: 1, runner: { id: 2 } }),
      eventOf({ retries_count: null, runner: null }),
    ]
    expect(withJobEvents(hookRecord(unit), events).jobs[0]).toMatchObject({ attempt: 2, runner: { id: 2n } })
  })

  test('events of other pipelines and jobs change nothing', () => {
    const record = hookRecord(unit)
    expect(withJobEvents(record, [])).toBe(record)
    expect(withJobEvents(record, [eventOf({ pipeline_id: 32 })])).toEqual(record)
    expect(withJobEvents(record, [eventOf({ build_id: 999 })])).toEqual(record)
  })

  test('does not change the keys of a job', () => {
    const record = hookRecord(unit)
    const enriched = withJobEvents(record, [eventOf({})])
    expect(Object.keys(enriched)).toEqual(Object.keys(record))
    expect(Object.keys(enriched.jobs[0]!)).toEqual(Object.keys(record.jobs[0]!))
  })

  describe('adds the attempts that a pipeline hook leaves out', () => {
    const times = {
      build_created_at: '2026-02-11 09:20:14 UTC',
      build_started_at: '2026-02-11 09:20:20 UTC',
      build_finished_at: '2026-02-11 09:20:50 UTC',
      build_duration: 30.5,
    }
    const created = (minute: number) => ({ created_at: `2026-02-11 09:${minute}:00 UTC` })
    const listed = (record: PipelineRecord, ...events: JobEvent[]) =>
      withJobEvents(record, events).jobs.map(({ id, attempt, previousAttemptId, effective }) => {
        return { id, attempt, previousAttemptId, effective }
      })

    test('with its times, its reason and its place among the attempts', () => {
      const first = eventOf({ build_id: 370, retries_count: 0, ...times })
      const record = hookRecord({ ...unit, status: 'success', ...created(21) }, { ...lint, ...created(20) })
      expect(listed(record, first)).toEqual([
        { id: 381n, attempt: undefined, previousAttemptId: undefined, effective: true },
        { id: 370n, attempt: 1, previousAttemptId: undefined, effective: false },
        { id: 380n, attempt: 2, previousAttemptId: 370n, effective: true },
      ])
      expect(withJobEvents(record, [first]).jobs[1]).toStrictEqual({
        ...record.jobs[0],
        id: 370n,
        name: 'unit',
        status: 'failed',
        failureReason: 'script_failure',
        createdAtNs: 1_770_801_614_000_000_000n,
        startedAtNs: 1_770_801_620_000_000_000n,
        finishedAtNs: 1_770_801_650_000_000_000n,
        durationSeconds: 30.5,
        url: undefined,
        runner: first.runner,
        environment: first.environment,
        attempt: 1,
        previousAttemptId: undefined,
        effective: false,
      })
    })

    test('numbers go on from the hooks, even if one is missing', () => {
      const events = [eventOf({ build_id: 370, retries_count: 2 })]
      expect(listed(hookRecord(unit), ...events)).toMatchObject([
        { id: 370n, attempt: 3 },
        { id: 380n, attempt: 4 },
      ])
    })

    test('but no later attempt than the listed one, and no job that began after the end', () => {
      const later = { build_id: 390, build_name: 'deploy', build_created_at: '2026-02-11 09:30:01 UTC' }
      expect(listed(hookRecord(unit), eventOf({ build_id: 390 }), eventOf(later))).toMatchObject([{ id: 380n }])
    })

    test('a job that the record does not list at all', () => {
      const events = [eventOf({ build_id: 370, build_name: 'lint', ...times })]
      expect(listed(hookRecord(unit), ...events)).toMatchObject([{ id: 370n }, { id: 380n }])
    })

    test('an enrichment that an earlier version stored adds none', () => {
      const stored = { ...eventOf({ build_id: 370 }), status: undefined, allowFailure: undefined }
      expect(withJobEvents(hookRecord(unit), [stored]).jobs).toMatchObject([{ id: 380n }])
    })
  })

  test('a late hook of a running job does not undo its end', () => {
    const ended = eventOf({ build_finished_at: '2026-02-11 09:20:50 UTC' })
    const running = eventOf({ build_status: 'running', build_started_at: '2026-02-11 09:20:20 UTC' })
    for (const merged of [mergedJobEvents(ended, running), mergedJobEvents(running, ended)]) {
      expect(merged).toMatchObject({
        status: 'failed',
        failureReason: 'script_failure',
        startedAtNs: 1_770_801_620_000_000_000n,
        finishedAtNs: 1_770_801_650_000_000_000n,
      })
    }
  })
})
