import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../collector/free-port.ts'
import { CORE_URL, ProgramHost } from './program-host.ts'

const PROGRAM = 'gitlab-ci-pipelines-exporter'
const program = (process.env.PATH ?? '')
  .split(delimiter)
  .map((directory) => join(directory, PROGRAM))
  .find(existsSync)

// No registry has this program, so CI skips it too, unless it is on the PATH.
if (program === undefined) console.warn(`skipped: "${PROGRAM}" is not on the PATH, and no package registry has it`)

describe.skipIf(program === undefined)(PROGRAM, () => {
  let host: ProgramHost
  let metrics: ReadonlyMap<string, number>

  beforeAll(async () => {
    host = await ProgramHost.start()
    await recordPipelines(host)
    metrics = await collectedMetrics(host)
  }, 120_000)

  afterAll(() => host.close())

  const metric = (name: string, ...labels: string[]) =>
    [...metrics].find(([key]) => key.startsWith(`${name}{`) && labels.every((label) => key.includes(label)))?.[1]

  test('the pipeline of a branch', async () => {
    const held = (await host.api('GET', '/projects/ops%2Ftools/pipelines/31')) as { updated_at: string }
    expect(metric('gitlab_ci_pipeline_id', 'ref="main"', 'project="ops/tools"')).toBe(31)
    expect(metric('gitlab_ci_pipeline_duration_seconds', 'ref="main"')).toBe(63)
    expect(metric('gitlab_ci_pipeline_timestamp', 'ref="main"')).toBe(Math.floor(Date.parse(held.updated_at) / 1_000))
    expect(metric('gitlab_ci_pipeline_status', 'ref="main"', 'status="failed"')).toBe(1)
  })

  test('its jobs', () => {
    expect(metric('gitlab_ci_pipeline_job_id', 'job_name="compile"', 'stage="build"')).toBe(380)
    expect(metric('gitlab_ci_pipeline_job_duration_seconds', 'job_name="compile"')).toBe(40)
    expect(metric('gitlab_ci_pipeline_job_status', 'job_name="unit"', 'status="failed"')).toBe(1)
  })

  test('the jobs of its child pipeline', () => {
    expect(metric('gitlab_ci_pipeline_job_id', 'job_name="publish"')).toBe(390)
  })

  test('no request was refused', () => {
    expect(host.unserved()).toEqual([])
  })
})

async function recordPipelines(host: ProgramHost): Promise<void> {
  const group = (await host.api('POST', '/groups', { name: 'Ops', path: 'ops' })) as { id: number }
  const draft = { path: 'tools', namespace_id: group.id, initialize_with_readme: true }
  const { id } = (await host.api('POST', '/projects', draft)) as { id: number }
  const commit = (await host.api('GET', `/projects/${id}/repository/commits/main`)) as { id: string }
  const project = { id, path_with_namespace: 'ops/tools' }
  await host.api('PUT', `/projects/${id}/pipeline_records/31`, {
    object_attributes: {
      id: 31,
      status: 'failed',
      ref: 'main',
      sha: commit.id,
      source: 'push',
      duration: 63,
      created_at: '2026-02-03 04:00:00 UTC',
      finished_at: '2026-02-03 04:02:00 UTC',
      variables: [{ key: 'LEVEL', value: '3' }],
    },
    project,
    builds: [
      {
        id: 380,
        name: 'compile',
        stage: 'build',
        status: 'success',
        duration: 40,
        created_at: '2026-02-03 04:00:00 UTC',
      },
      { id: 382, name: 'unit', stage: 'test', status: 'failed', created_at: '2026-02-03 04:00:00 UTC' },
    ],
    bridges: [{ id: 381, name: 'deploy', stage: 'deploy', status: 'success', created_at: '2026-02-03 04:00:00 UTC' }],
  })
  await host.api('PUT', `/projects/${id}/pipeline_records/32`, {
    object_attributes: { id: 32, status: 'success', ref: 'main', sha: commit.id, source: 'parent_pipeline' },
    project,
    builds: [{ id: 390, name: 'publish', stage: 'deploy', status: 'success', created_at: '2026-02-03 04:01:00 UTC' }],
    source_pipeline: { pipeline_id: 31, job_id: 381, project },
  })
}

const configOf = (token: string, metricsPort: number) => `
server: { listen_address: '127.0.0.1:${metricsPort}' }
gitlab: { url: '${CORE_URL}', token: '${token}', enable_health_check: false }
project_defaults:
  pull:
    refs:
      branches: { enabled: true, regexp: '.*' }
      tags: { enabled: true, regexp: '.*' }
      merge_requests: { enabled: true }
    pipeline:
      jobs: { enabled: true, from_child_pipelines: { enabled: true } }
      variables: { enabled: true, regexp: '.*' }
      test_reports: { enabled: true, from_child_pipelines: { enabled: true } }
wildcards:
  - owner: { name: ops, kind: group, include_subgroups: true }
    archived: false
`

/** Starts the exporter, and returns its metrics when it has those of a job of the child pipeline, or after 90 seconds. */
async function collectedMetrics(host: ProgramHost): Promise<ReadonlyMap<string, number>> {
  const metricsPort = await freePort()
  const config = join(host.directory, 'exporter.yml')
  writeFileSync(config, configOf(host.core.rootToken, metricsPort))
  const exporter = host.spawn(program!, ['run', '--config', config])
  try {
    for (let attempt = 0; attempt < 180; attempt++) {
      await sleep(500)
      const said = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then(
        (reply) => reply.text(),
        () => '',
      )
      if (attempt === 179 || said.includes('job_name="publish"')) return valuesIn(said)
    }
    return new Map()
  } finally {
    exporter.kill()
  }
}

/** Returns the value of each line of the text format, by name and labels. */
const valuesIn = (said: string): ReadonlyMap<string, number> =>
  new Map([...said.matchAll(/^(\w+\{.*\}) (\S+)$/gm)].map(([, key, value]) => [key!, Number(value)]))
