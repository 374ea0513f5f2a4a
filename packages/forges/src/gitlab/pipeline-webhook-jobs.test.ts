import { describe, expect, test } from 'vitest'
import { attributes, hookJob, hookRecord, hookRun, read } from '../read-hook.harness.ts'

describe('job fields', () => {
  test('edge 12: null times are absent', () => {
    expect(hookJob({ status: 'skipped', started_at: null, finished_at: null, duration: null })).toMatchObject({
      startedAtNs: undefined,
      finishedAtNs: undefined,
      durationSeconds: undefined,
    })
  })

  test('edge 13: a skipped job keeps its duration and its runner', () => {
    expect(hookJob({ status: 'skipped', duration: 4.5, runner: { id: 6 } })).toMatchObject({
      status: 'skipped',
      durationSeconds: 4.5,
      runner: { id: 6n },
    })
  })

  test('edge 16: a finish before the start is kept', () => {
    const job = hookJob({ started_at: '2026-01-05T10:00:01Z', finished_at: '2026-01-05T10:00:00Z' })
    expect(job.startedAtNs! - job.finishedAtNs!).toBe(1_000_000_000n)
  })

  test.each([
    [0.173, 0.173],
    [17.0, 17],
    [0, 0],
    [-1, undefined],
    ['17', undefined],
  ])('edges 18 to 21: a duration of %s', (duration, expected) => {
    expect(hookJob({ duration }).durationSeconds).toBe(expected)
  })

  test('edge 23: runners with few fields', () => {
    expect(hookJob({ runner: null }).runner).toBeUndefined()
    expect(hookJob({ runner: { id: 0, description: '', active: false } }).runner).toBeUndefined()
    expect(hookJob({ runner: { id: 6 } }).runner).toEqual({
      id: 6n,
      description: undefined,
      tags: [],
      type: undefined,
      active: undefined,
      isShared: undefined,
    })
    expect(hookJob({ runner: { id: 6, paused: true } }).runner?.active).toBe(false)
    expect(hookJob({ runner: { id: 6, paused: true, active: true } }).runner?.active).toBe(true)
  })

  test('edge 24: artifacts and environments with few fields', () => {
    expect(hookJob({ artifacts_file: { filename: null, size: null }, environment: {} })).toMatchObject({
      artifacts: undefined,
      environment: undefined,
    })
    expect(hookJob({ artifacts_file: { filename: null, size: 0 } }).artifacts).toBeUndefined()
    expect(hookJob({ artifacts_file: { filename: '', size: '0' } }).artifacts).toBeUndefined()
    expect(hookJob({ artifacts_file: { filename: 'a.zip', size: 0 } }).artifacts).toMatchObject({ size: 0n })
    expect(hookJob({ artifacts_file: { size: 2048 }, environment: { name: 'staging' } })).toMatchObject({
      artifacts: undefined,
      environment: { name: 'staging', action: undefined, deploymentTier: undefined },
    })
  })

  test('edge 25: the largest artifact', () => {
    expect(hookJob({ artifacts_file: { filename: 'a.zip', size: 9_223_372_036_854_775_807n } }).artifacts?.size).toBe(
      9_223_372_036_854_775_807n,
    )
  })

  test('edge 53: a job without a stage', () => expect(hookJob({ stage: '' }).stage).toBeUndefined())

  test('edge 56: the failure reason of a job that did not fail is ignored', () => {
    expect(hookJob({ status: 'success', failure_reason: 'unknown_failure' }).failureReason).toBeUndefined()
    expect(hookJob({ status: 'failure', failure_reason: 'unknown_failure' }).failureReason).toBe('unknown_failure')
  })

  test('a bridge among the builds is recognised by its flag', () => {
    const record = hookRecord({ builds: [{ id: 380, status: 'success', bridge: true }] })
    expect(record.jobs[0]?.bridge).toBe(true)
    expect(record.bridgesListed).toBe(true)
  })

  test('edge 38: an empty list of bridges is treated as listed', () => {
    expect(hookRecord({ bridges: [] }).bridgesListed).toBe(true)
    expect(hookRecord({ bridges: null }).bridgesListed).toBe(false)
  })

  test('edge 48: ids above 2^53 are exact', () => {
    const id = 9_007_199_254_740_993n
    expect(hookJob({ id })).toMatchObject({ id })
    expect(hookRun({ id })).toMatchObject({ id })
  })
})

describe('upstream', () => {
  const upstreamOf = (source_pipeline: object, hook: object = {}) => read({ source_pipeline, ...hook })

  test('the id of the bridge is bridge_id, else job_id', () => {
    expect(upstreamOf({ pipeline_id: 30, job_id: 300, bridge_id: 301 }).record.upstream?.bridgeId).toBe(301n)
    expect(upstreamOf({ pipeline_id: 30, job_id: 300 }).record.upstream?.bridgeId).toBe(300n)
    expect(upstreamOf({ pipeline_id: 30 }).record.upstream?.bridgeId).toBeUndefined()
  })

  test.each([
    ['the ids', { id: 7 }, { id: 42 }, 'push', true],
    ['the ids', { id: 42, path_with_namespace: 'a/b' }, { id: 42, path_with_namespace: 'c/d' }, 'pipeline', false],
    ['the paths', { path_with_namespace: 'a/b' }, { id: 42, path_with_namespace: 'c/d' }, 'push', true],
    ['the addresses', { web_url: 'https://x.example/a/b/' }, { web_url: 'https://x.example/a/b' }, 'pipeline', false],
    ['the trigger types', {}, { id: 42 }, 'pipeline', true],
    ['the trigger types', {}, { id: 42 }, 'parent_pipeline', false],
  ])('edge 46: %s decide whether it belongs to another project', (_, theirs, ours, source, expected) => {
    const { record } = upstreamOf(
      { project: theirs, pipeline_id: 30 },
      { project: ours, object_attributes: { ...attributes, source } },
    )
    expect(record.upstream?.otherProject).toBe(expected)
  })

  test('edge 47: a pipeline that names itself has no upstream, with a warning', () => {
    const { record, warned } = upstreamOf({ pipeline_id: 31, job_id: 300 })
    expect(record.upstream).toBeUndefined()
    expect(warned).toEqual(['source_pipeline.pipeline_id'])
  })

  test('edge 49: without a usable pipeline id there is no upstream', () => {
    expect(upstreamOf({ pipeline_id: 0 })).toMatchObject({
      record: { upstream: undefined },
      warned: ['source_pipeline.pipeline_id'],
    })
    expect(upstreamOf({})).toMatchObject({ record: { upstream: undefined }, warned: [] })
  })
})
