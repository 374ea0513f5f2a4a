import fc from 'fast-check'

/** Returns bodies of hooks with values that are easily read in different ways. */
export function oddHooks(): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const time = one(
    '2026-02-03 04:05:06 UTC',
    '2026-02-03 04:05:06',
    '2026-02-03 04:05:06 +0230',
    '2026-02-03T04:05:06+23:59',
    '2026-02-03T04:05:06+24:00',
    '2026-02-03T04:05:06-00:60',
    '2026-02-03T04:05:06.987654321Z',
    '2026-02-03T04:05:06.9876543210Z',
    '2026-02-03t04:05:06z',
    '2026-02-03 04:05:06 utc',
    '2026-02-03 04:05:06 +00',
    '2026-02-03T04:05-01',
    '2026-02-03T04:05+24',
    '2026-02-03T04:05.5Z',
    '2026-02-03T04:05:06  Z',
    '2026-02-03T04:05Z',
    '2026-02-03T24:00:00Z',
    '2026-02-03T23:59:60Z',
    '2026-02-03',
    ' 2026-02-03T04:05:06Z',
    '2026-02-30 04:05:06 UTC',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+00:01',
    '2262-04-11T23:47:16Z',
    '2263-01-01T00:00:00Z',
    1_770_000_000,
  )
  const text = one('x', ' x ', '', ' \0', 'a\0b', '\ud83d', 'y'.repeat(1_025), 7, true, null, ['x'], {})
  const id = one(1, 0, -1, 1.5, 2 ** 53 - 1, '', 'x', true, null, [1], {})
  const flag = one(true, false, 'true', 1, null)
  const seconds = one(0, 0.5, -0.5, 1e9, 1e10, 1e300, '5', null)
  const user = fc.record({ id, username: text, name: text }, { requiredKeys: [] })
  const project = fc.record(
    { id: one(1, 2, 0, null), path_with_namespace: one('a/b', 'a/c', '') },
    { requiredKeys: [] },
  )
  const section = (content: fc.Arbitrary<unknown>) => fc.oneof({ weight: 5, arbitrary: content }, one(null, 7, 'x', []))
  const status = fc.oneof(
    { weight: 20, arbitrary: one('success', ' Failure ', 'CANCELLED', 'failed', 'Melting', 'x'.repeat(255)) },
    one('', ' \0', 7, null),
  )
  const end = one('2026-02-03 04:05:06 UTC', '2026-02-03 04:05:07 UTC')
  const job = fc.record(
    {
      id: fc.oneof({ weight: 30, arbitrary: fc.integer({ min: 1, max: 6 }) }, id),
      status,
      name: one('unit', 'lint', '', null),
      stage: one('test', 'build', 7),
      bridge: flag,
      created_at: time,
      started_at: time,
      finished_at: fc.oneof({ weight: 9, arbitrary: end }, time),
      duration: seconds,
      queued_duration: seconds,
      failure_reason: text,
      when: text,
      manual: flag,
      allow_failure: flag,
      user: section(user),
      runner: section(
        fc.record(
          {
            id,
            description: text,
            runner_type: text,
            active: flag,
            is_shared: flag,
            tags: one(['a', '', 7, 'b'], 'a'),
          },
          { requiredKeys: [] },
        ),
      ),
      artifacts_file: section(fc.record({ filename: text, size: one(0, 7, -1, 1.5, '', null) }, { requiredKeys: [] })),
      environment: section(fc.record({ name: text, action: text, deployment_tier: text }, { requiredKeys: [] })),
    },
    { requiredKeys: ['id', 'status'] },
  )
  const jobs = fc.oneof({ weight: 20, arbitrary: fc.array(job, { maxLength: 4 }) }, one(null, [null], [7], [{}]))
  const run = fc.record(
    {
      id: fc.oneof({ weight: 20, arbitrary: fc.constant(31) }, id),
      status,
      iid: id,
      name: text,
      detailed_status: one('passed', '', 7),
      source: one('push', 'pipeline', 7),
      ref: one('main', 'refs/tags/v1', 'refs/heads/main', ''),
      tag: flag,
      sha: text,
      before_sha: one('0'.repeat(40), 'f'.repeat(40), 0),
      created_at: time,
      updated_at: time,
      finished_at: time,
      duration: seconds,
      queued_duration: seconds,
    },
    { requiredKeys: ['id', 'status'] },
  )
  // Without `object_kind`, these members may make a body one of several kinds, which both readers refuse.
  const rarely = (...values: unknown[]) => fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, one(...values))
  return fc.record(
    {
      object_kind: fc.oneof({ weight: 9, arbitrary: fc.constant('pipeline') }, one('', ' ', 7, null, 'push')),
      object_attributes: fc.oneof({ weight: 20, arbitrary: run }, one(null, [], 'x', {}, { id: 31 })),
      user: section(user),
      project: section(project),
      commit: section(fc.record({ id: text, title: text, message: text, timestamp: time }, { requiredKeys: [] })),
      source_pipeline: section(
        fc.record({ pipeline_id: one(30, 31, 0), job_id: id, bridge_id: id, project: section(project) }),
      ),
      builds: jobs,
      bridges: jobs,
      pipeline: rarely({}, { id: 31, status: 'success' }, [], null, 7),
      jobs: rarely([], null),
      id: rarely(31, null),
      workflow: rarely({}, null),
      build_id: rarely(380, null),
      build_status: rarely('success', null),
    },
    { requiredKeys: ['object_attributes'] },
  )
}
