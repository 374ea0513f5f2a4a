const USER = { id: 5, name: 'Ines Okafor', username: 'iokafor', avatar_url: 'https://ci.example.com/a.png', email: 'x' }

/** Returns a pipeline hook as a forge sends it. Pipeline and half of the jobs end `secondsLater` seconds later than in the first hook. */
export function largePipelineHook(id: number, jobCount: number, secondsLater = 0): string {
  return JSON.stringify({
    object_kind: 'pipeline',
    object_attributes: {
      id,
      iid: id,
      ref: 'main',
      tag: false,
      sha: '3dffc13c960842b937fc4f5f4c56e3e5aced3fcb',
      source: 'push',
      status: 'success',
      stages: ['build', 'test'],
      created_at: '2026-02-11 09:20:14 UTC',
      finished_at: `2026-02-11 09:25:${11 + secondsLater} UTC`,
      duration: 282,
      variables: [{ key: 'A', value: 'b' }],
    },
    user: USER,
    project: {
      id: 42,
      name: 'tide-tables',
      web_url: 'https://ci.example.com/harbour/tide-tables',
      path_with_namespace: 'harbour/tide-tables',
      default_branch: 'main',
    },
    builds: Array.from({ length: jobCount }, (_, index) => ({
      id: id * 100_000 + index,
      stage: index % 2 === 0 ? 'build' : 'test',
      name: `compile and test on platform ${index}`,
      status: 'success',
      created_at: '2026-02-11 09:20:14 UTC',
      started_at: '2026-02-11 09:20:17 UTC',
      finished_at: '2026-02-11 09:21:55 UTC',
      duration: 98.25 + (index % 2 === 0 ? secondsLater : 0),
      queued_duration: 2.75,
      failure_reason: null,
      when: 'on_success',
      manual: false,
      allow_failure: false,
      user: USER,
      runner: {
        id: 12,
        description: 'shared-runner-12',
        runner_type: 'instance_type',
        active: true,
        is_shared: true,
        tags: ['linux', 'docker'],
      },
      artifacts_file: { filename: 'artifacts.zip', size: 48_213 },
      environment: { name: 'review/main', action: 'start', deployment_tier: 'development' },
    })),
  })
}
