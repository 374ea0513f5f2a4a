import { type JsonObject, readInput, readPayload } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { type ConvertOptionsInput, resolveOptions } from '../base/options.ts'
import { convert } from '../convert.ts'
import { checkRecord } from './check-record.ts'

/** A pipeline hook with a failed job and with every field that an attribute or a metric is read from. */
const fullHook = {
  object_kind: 'pipeline',
  object_attributes: {
    id: 31,
    iid: 18,
    name: 'Nightly',
    ref: 'main',
    ref_status_name: 'still_failing',
    failure_reason: 'config_error',
    yaml_errors: 'jobs:unit config is empty',
    coverage: '81.5',
    tag: false,
    sha: 'a1',
    before_sha: 'b2',
    source: 'push',
    status: 'failed',
    detailed_status: 'failed',
    stages: ['build'],
    created_at: '2026-02-11 09:20:14 UTC',
    finished_at: '2026-02-11 09:25:14 UTC',
    duration: 280,
    queued_duration: 3,
    protected_ref: true,
    url: 'https://ci.example.com/harbour/tide-tables/-/pipelines/31',
  },
  merge_request: { id: 40, iid: 7, title: 'Add tables', state: 'opened', target_branch: 'main' },
  user: { id: 5, username: 'iokafor' },
  project: {
    id: 42,
    name: 'tide-tables',
    web_url: 'https://ci.example.com/harbour/tide-tables',
    path_with_namespace: 'harbour/tide-tables',
  },
  commit: { id: 'a1', message: 'Add tables' },
  source_pipeline: { pipeline_id: 30, project: { id: 41 } },
  builds: [
    {
      id: 380,
      name: 'compile',
      stage: 'build',
      status: 'failed',
      created_at: '2026-02-11 09:20:14 UTC',
      started_at: '2026-02-11 09:20:15 UTC',
      finished_at: '2026-02-11 09:20:17 UTC',
      duration: 2,
      queued_duration: 1,
      failure_reason: 'script_failure',
      when: 'on_success',
      manual: false,
      coverage: 80,
      tag_list: ['large'],
      allow_failure: false,
      retries_count: 0,
      web_url: 'https://ci.example.com/harbour/tide-tables/-/jobs/380',
      user: { id: 5, username: 'iokafor' },
      runner: { id: 9, description: 'large', runner_type: 'group_type', tags: ['a'], active: true, is_shared: false },
      artifacts_file: { filename: 'a.zip', size: 1 },
      environment: { name: 'prod', action: 'start', deployment_tier: 'production' },
    },
  ],
}

type Tree = Record<string, unknown>

function checked(body: JsonObject, options: ConvertOptionsInput = { extraAttributes: true }) {
  const input = readInput(body, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return checkRecord(input.record, readPayload(body), resolveOptions(options), 1n)
}

/**
 * Returns the names of gaps. Those of metrics and data points get a prefix, because spans may have attributes with the
 * same names.
 */
const gapNames = (body: JsonObject) =>
  checked(body).gaps.flatMap(({ part, names }) =>
    names.map((name) => (part === 'metric' || part === 'point' ? `${part} ${name}` : name)),
  )
const reasonOf = ({ gaps }: ReturnType<typeof checked>, name: string) =>
  gaps.find(({ names }) => names.includes(name))?.reason

/** Returns the path of every leaf of the hook, in the notation of the tables. */
function leaves(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    if (key === 'builds') return leaves((value as Tree[])[0]!, 'builds[].')
    const isTree = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isTree ? leaves(value as Tree, `${prefix}${key}.`) : [`${prefix}${key}`]
  })
}

function without(paths: readonly string[]): typeof fullHook {
  const hook = structuredClone(fullHook)
  for (const path of paths) {
    const steps = path.replace('builds[]', 'builds.0').split('.')
    const last = steps.pop()!
    let owner = hook as unknown as Tree
    for (const step of steps) owner = owner[step] as Tree
    delete owner[last]
  }
  return hook
}

/** Returns all names that a conversion sends: attribute keys of the resource and of spans, and names of metrics. */
function sentNames(body: unknown): Set<string> {
  const input = readInput(body, { receivedAtNs: 1n })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  const { traces, metrics } = convert(input.record, resolveOptions({ extraAttributes: true }))
  const attributes = traces.resources.flatMap(({ resource, scopes }) => [
    ...(resource?.attributes ?? []),
    ...scopes.flatMap(({ items }) => items.flatMap((span) => span.attributes)),
  ])
  const sentMetrics = metrics.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
  return new Set([
    ...attributes.map(({ key }) => key),
    ...sentMetrics.map(({ name }) => `metric ${name}`),
    // This point has the attributes that all metrics have.
    ...(sentMetrics.find(({ name }) => name === 'cicd.pipeline.run.count')?.data?.dataPoints ?? []).flatMap((point) =>
      point.attributes.map(({ key }) => `point ${key}`),
    ),
  ])
}

const required = new Set(['object_kind', 'object_attributes.id', 'object_attributes.status'])
const requiredOfJobs = new Set(['builds[].id', 'builds[].status'])
const optionalFields = leaves(fullHook).filter((path) => !required.has(path) && !requiredOfJobs.has(path))

describe('the tables name the fields that the converter reads', () => {
  test('a full hook has no gaps', () => {
    expect(checked(fullHook).gaps).toEqual([])
    expect(optionalFields.length).toBeGreaterThan(50)
  })

  test.each(optionalFields)('without %s, exactly the missing attributes and metrics are reported', (path) => {
    const hook = without([path])
    const sent = sentNames(hook)
    const vanished = [...sentNames(fullHook)].filter((name) => !sent.has(name))
    expect(gapNames(hook).sort()).toEqual(vanished.sort())
  })

  test('the hook contains every field that a row needs', () => {
    const needed = checked({ object_attributes: { id: 1, status: 'success' }, builds: [{ id: 2, status: 'failed' }] })
      .gaps.flatMap(({ needs }) => needs)
      .filter((path) => path !== 'merge_request')
    expect([...new Set(needed)].filter((path) => !optionalFields.includes(path))).toEqual([])
  })

  test('a gap is reported only if all alternative fields are missing', () => {
    const alternatives = ['object_attributes.url', 'project.web_url']
    expect(gapNames(without([alternatives[0]!]))).toEqual([])
    expect(gapNames(without([...alternatives, 'builds[].web_url'])).sort()).toEqual([
      'cicd.pipeline.run.url.full',
      'cicd.pipeline.task.run.url.full',
      'pipeline.url',
      'vcs.repository.url.full',
    ])
  })
})

describe('reasons', () => {
  test('name the outermost field that is missing', () => {
    expect(reasonOf(checked({ ...fullHook, merge_request: null }), 'vcs.change.id')).toBe('merge_request is null')
    expect(reasonOf(checked(without(['merge_request'])), 'vcs.change.id')).toBe('merge_request is missing')
    expect(reasonOf(checked(without(['merge_request.iid'])), 'vcs.change.id')).toBe('merge_request.iid is missing')
  })

  test('name all alternatives', () => {
    const hook = without(['object_attributes.name', 'project.name'])
    expect(reasonOf(checked(hook), 'cicd.pipeline.name')).toBe(
      'object_attributes.name is missing, project.name is missing',
    )
  })

  test('come from the table if a value is present but cannot be used', () => {
    const run = { ...fullHook.object_attributes, before_sha: '0000000000' }
    expect(reasonOf(checked({ ...fullHook, object_attributes: run }), 'vcs.ref.base.revision')).toBe(
      'blank or all zeros',
    )
    const omitted = checked(fullHook, { user: 'omit' })
    expect(reasonOf(omitted, 'pipeline.user.id')).toBe('unknown, or option `user: omit`')
  })

  test('count the jobs', () => {
    const [job] = fullHook.builds
    const jobs = [1, 2, 3, 4].map((id) => ({ ...job, id, name: `job ${id}`, runner: id < 3 ? null : job!.runner }))
    const result = checked({ ...fullHook, builds: [...jobs, { ...job, id: 5, runner: { ...job!.runner, tags: [] } }] })
    expect(reasonOf(result, 'cicd.worker.id')).toBe('2 of 5 jobs: runner is null')
    expect(reasonOf(result, 'svc.cicd.worker.tags')).toBe(
      '2 of 5 jobs: runner is null; 1 of 5 jobs: runner.tags is empty',
    )
    expect(result.gaps.find(({ names }) => names.includes('cicd.worker.id'))?.jobsWithout).toBe(2)
  })

  test('name the fields of REST if the body is a REST bundle', () => {
    const result = checked({ pipeline: { id: 1, status: 'success' }, jobs: [{ id: 2, status: 'success' }] })
    expect(reasonOf(result, 'pipeline.url')).toBe('pipeline.web_url is missing, project is missing')
    expect(reasonOf(result, 'pipeline.user.id')).toBe('pipeline.user is missing')
    expect(result.gaps.find(({ names }) => names.includes('job.runner.id'))?.needs).toEqual(['jobs[].runner.id'])
  })
})

test('does not report an attribute that does not apply to the run as a gap', () => {
  const [job] = fullHook.builds
  const succeeded = {
    ...fullHook,
    object_attributes: { ...fullHook.object_attributes, status: 'success' },
    builds: [{ ...job, status: 'success', failure_reason: null }],
  }
  const { gaps, inapplicable } = checked(succeeded)
  expect(gaps).toEqual([])
  expect(inapplicable).toContainEqual({ part: 'pipeline', names: ['error.type'], reason: 'not failed' })
  expect(inapplicable).toContainEqual({
    part: 'metric',
    names: ['cicd.pipeline.run.errors'],
    reason: 'emitted when: the pipeline failed',
  })
})
