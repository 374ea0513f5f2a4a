/** Returns a pipeline hook of a busy project: five stages, and jobs with runner, environment and artifacts. */
export function pipelineHook(id: number, jobCount: number): object {
  const stages = ['prepare', 'build', 'test', 'package', 'deploy']
  const user = { id: 7, name: 'Ada Byron', username: 'ada', avatar_url: null, email: '[REDACTED]' }
  const startMs = Date.UTC(2026, 0, 15, 9, 0, 0)
  const at = (seconds: number): string =>
    `${new Date(startMs + seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  const builds = Array.from({ length: jobCount }, (_, i) => ({
    id: id * 100_000 + i,
    stage: stages[i % stages.length],
    name: `${stages[i % stages.length]} part ${i}`,
    status: i % 17 === 16 ? 'failed' : 'success',
    created_at: at(0),
    started_at: at(5 + i),
    finished_at: at(35 + 2 * i),
    duration: 30.25 + i,
    queued_duration: 1.5,
    failure_reason: i % 17 === 16 ? 'script_failure' : null,
    when: 'on_success',
    manual: false,
    allow_failure: i % 17 === 16,
    user,
    runner: {
      id: 40 + (i % 4),
      description: `runner-${i % 4}.ci.example.com`,
      runner_type: 'project_type',
      active: true,
      is_shared: false,
      tags: ['linux', 'docker'],
    },
    artifacts_file: { filename: 'artifacts.zip', size: 1_048_576 + i },
    environment: { name: 'staging', action: 'start', deployment_tier: 'staging' },
  }))
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id,
      iid: id % 1_000,
      name: 'Nightly build',
      ref: 'main',
      tag: false,
      sha: '6f9a1c24be07d85f3a1e9c0b7d24a86f5e3c1b09',
      before_sha: '1b09c3e5f68a42d7b0c9e1a3f58d70eb42c1a9f6',
      source: 'push',
      status: 'success',
      detailed_status: 'passed',
      stages,
      created_at: at(0),
      finished_at: at(40 + 2 * jobCount),
      duration: 35 + 2 * jobCount,
      queued_duration: 5,
      protected_ref: true,
      variables: [],
      url: `https://ci.example.com/group/app/-/pipelines/${id}`,
    },
    merge_request: null,
    user,
    project: {
      id: 380,
      name: 'app',
      web_url: 'https://ci.example.com/group/app',
      namespace: 'Group',
      path_with_namespace: 'group/app',
      default_branch: 'main',
    },
    commit: {
      id: '6f9a1c24be07d85f3a1e9c0b7d24a86f5e3c1b09',
      message: 'Measure twice\n\nThen cut.\n',
      title: 'Measure twice',
      timestamp: '2026-01-15T09:59:00+01:00',
    },
    builds,
  }
}
