import fc from 'fast-check'

/**
 * Returns pipeline hooks with faults: any field may be missing, null or of a wrong type, times have any notation and
 * order, and statuses may be unknown. Only the required fields of a record (ids, statuses) are always present.
 */
export function pipelineHooks(): fc.Arbitrary<object> {
  return fc.record({
    object_kind: fc.constant('pipeline'),
    object_attributes: fc.record(
      {
        id: ids,
        iid: loose(ids),
        name: loose(names()),
        ref: loose(names()),
        tag: loose(fc.boolean()),
        sha: loose(fc.stringMatching(/^[0-9a-f]{40}$/)),
        before_sha: loose(fc.constantFrom('0'.repeat(40), 'f'.repeat(40))),
        source: loose(fc.constantFrom('push', 'schedule', 'merge_request_event', 'parent_pipeline')),
        status: statuses,
        stages: loose(fc.array(stages, { maxLength: 6 })),
        created_at: times,
        finished_at: times,
        duration: loose(durations),
        queued_duration: loose(durations),
        protected_ref: loose(fc.boolean()),
        root_pipeline_id: loose(ids),
      },
      { requiredKeys: ['id', 'status'] },
    ),
    merge_request: loose(
      fc.record(
        {
          id: loose(ids),
          iid: loose(ids),
          title: loose(names()),
          state: loose(fc.constantFrom('opened', 'merged', 'locked')),
          draft: loose(fc.boolean()),
        },
        { requiredKeys: [] },
      ),
    ),
    user: loose(fc.record({ id: loose(ids), username: loose(names()) }, { requiredKeys: [] })),
    project: loose(
      fc.record(
        {
          id: loose(ids),
          name: loose(names()),
          web_url: loose(
            fc.constantFrom('https://ci.example.com/a/b', 'http://forge.example.org:8080/x/y/z.git', 'no url'),
          ),
          path_with_namespace: loose(fc.constantFrom('a/b', 'x/y/z', 'single')),
        },
        { requiredKeys: [] },
      ),
    ),
    commit: loose(fc.record({ id: loose(names()), message: loose(fc.string({ unit: 'binary', maxLength: 6_000 })) })),
    source_pipeline: loose(
      fc.record({ pipeline_id: loose(ids), job_id: loose(ids), project: loose(fc.record({ id: loose(ids) })) }),
    ),
    builds: fc.uniqueArray(jobs(), { maxLength: 12, selector: (job) => job.id }),
    bridges: fc.option(fc.uniqueArray(jobs(), { maxLength: 3, selector: (job) => job.id }), { nil: undefined }),
  })
}

function jobs() {
  return fc.record(
    {
      id: ids,
      name: loose(names()),
      stage: loose(stages),
      status: statuses,
      created_at: times,
      started_at: times,
      finished_at: times,
      duration: loose(durations),
      queued_duration: loose(durations),
      failure_reason: loose(fc.constantFrom('script_failure', 'runner_system_failure', '')),
      allow_failure: loose(fc.boolean()),
      manual: loose(fc.boolean()),
      when: loose(fc.constantFrom('on_success', 'manual')),
      user: loose(fc.record({ id: loose(ids), username: loose(names()) })),
      runner: loose(
        fc.record({
          id: loose(ids),
          description: loose(names()),
          active: loose(fc.boolean()),
          is_shared: loose(fc.boolean()),
          tags: loose(fc.array(names(), { maxLength: 200 })),
        }),
      ),
      artifacts_file: loose(fc.record({ filename: loose(names()), size: loose(fc.nat()) })),
      environment: loose(fc.record({ name: loose(names()), action: loose(names()), deployment_tier: loose(names()) })),
    },
    { requiredKeys: ['id', 'status'] },
  )
}

const oddities = fc.constantFrom<unknown>(-1, 1.5, '', 'text', true, [], {}, [null], 1e21)
const ids = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const stages = fc.constantFrom('build', 'test', 'deploy', 'Ünïcode 🚀')
let madeNames: fc.Arbitrary<string> | undefined
/** Returns names. It is a function, because building strings of all of Unicode is slow and few importers need them. */
const names = (): fc.Arbitrary<string> => {
  madeNames ??= fc.oneof(
    fc.constantFrom('main', 'release/1.0', '', ' ', 'a\0b', '\ud83d', '🚀'.repeat(2_000)),
    fc.string({ unit: 'binary', maxLength: 30 }),
  )
  return madeNames
}
const statuses = fc.constantFrom(
  'success',
  'failed',
  'canceled',
  'skipped',
  'Failure',
  'running',
  'manual',
  'created',
  'foo',
)
const durations = fc.oneof(
  fc.integer({ min: -5, max: 100_000 }),
  fc.double({ min: -1, max: 1e12 }),
  fc.constantFrom(0, 0.173, 1e300),
)

const times = loose(
  fc.oneof(
    fc
      .date({ min: new Date('1965-01-01'), max: new Date('2400-01-01'), noInvalidDate: true })
      .chain((date) =>
        fc.constantFrom(
          date.toISOString(),
          `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`,
          `${date.toISOString().slice(0, 19)}+02:00`,
        ),
      ),
    fc.constantFrom('', 'null', '0001-01-01T00:00:00Z', '2021-13-40 00:00:00 UTC', '1970-01-01T00:00:00Z'),
  ),
)

/** Returns mostly the value, sometimes null, sometimes a value of another type. */
function loose<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: value },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: oddities },
  )
}
