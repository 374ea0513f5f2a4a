import { createDeployment, createEnvironment, stopEnvironment } from '@penstock/core'
import type { MatrixRow } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea, ThingContext } from '../matrix-area.ts'

const basics = {
  id: 'int',
  name: 'text',
  slug: 'text',
  external_url: 'text?',
  state: 'text',
  tier: 'text',
  created_at: 'time',
  updated_at: 'time',
} as const
const members = {
  ...basics,
  description: 'text?',
  cluster_agent: 'map?',
  kubernetes_namespace: 'text?',
  flux_resource_path: 'text?',
  auto_stop_at: 'time?',
  auto_stop_setting: 'text',
  project: 'map',
} as const
const environment: Shape = { exactly: members }
const deployment: Shape = {
  exactly: {
    id: 'int',
    iid: 'int',
    ref: 'text?',
    sha: 'text?',
    created_at: 'time',
    updated_at: 'time',
    status: 'text',
    user: 'map?',
    environment: { exactly: basics },
    deployable: 'map?',
    pending_approval_count: 'int',
    approvals: { listOf: 'map' },
  },
}

const environments = '/projects/:id/environments'
const oneEnvironment = `${environments}/:environment_id`
const deployments = '/projects/:id/deployments'
const oneDeployment = `${deployments}/:deployment_id`
const sha = '1'.repeat(40)

const job = { job: true } as const
const reads = { may: { project: 20 }, ...job } as const
const writes = { may: { project: 30 }, ...job } as const

/** Creates an environment with two deployments, of which the first is not the last one. */
async function deployed({ server, parent }: ThingContext) {
  const { world, root } = server
  const report = (commit: string) =>
    world.perform(root, createDeployment, {
      project: parent!.id,
      environment: name,
      sha: commit,
      ref: 'main',
      tag: false,
      status: 'success',
    })
  const name = server.word('env')
  const first = await report(sha)
  await report('2'.repeat(40))
  return { environment_id: first.environment.id, deployment_id: first.id }
}

export const area: MatrixArea = {
  access: {
    read_environment: {
      rule: 'Reporters and higher',
      project: '---nnyyyyyy -nnnnyyyyyy nnnnnyyyyyy',
    },
    write_environment: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    remove_deployment: {
      rule: 'Maintainers and higher',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
  },

  rows: [
    { call: `GET ${environments}`, ...reads, needs: ['deployment'], answer: [200, listOf(environment)] },
    {
      call: `GET ${oneEnvironment}`,
      ...reads,
      needs: ['deployment'],
      answer: [200, { exactly: { ...members, last_deployment: deployment } }],
    },
    { call: `POST ${environments}`, ...writes, answer: [201, environment], send: { name: '{new}' } },
    {
      call: `PUT ${oneEnvironment}`,
      ...writes,
      needs: ['deployment'],
      answer: [200, environment],
      send: { tier: 'staging' },
    },
    { call: `POST ${oneEnvironment}/stop`, ...writes, needs: ['deployment'], answer: [200, environment] },
    {
      call: `POST ${environments}/stop_stale`,
      ...writes,
      needs: ['old environment'],
      answer: [200, { exactly: { message: 'text' } }],
      send: { before: '2026-01-01' },
    },
    {
      call: `DELETE ${environments}/review_apps`,
      ...writes,
      needs: ['old environment'],
      send: { dry_run: false },
      answer: [200, { exactly: { scheduled_entries: { listOf: 'map' }, unprocessable_entries: { listOf: 'map' } } }],
    },
    { call: `DELETE ${oneEnvironment}`, ...writes, needs: ['stopped environment'], answer: [204] },

    { call: `GET ${deployments}`, ...reads, needs: ['deployment'], answer: [200, listOf(deployment)] },
    { call: `GET ${oneDeployment}`, ...reads, needs: ['deployment'], answer: [200, deployment] },
    {
      call: `POST ${deployments}`,
      ...writes,
      answer: [201, deployment],
      send: { environment: '{new}', sha, ref: 'main', tag: false, status: 'running' },
    },
    {
      call: `PUT ${oneDeployment}`,
      ...writes,
      needs: ['deployment'],
      answer: [200, deployment],
      send: { status: 'failed' },
    },
    { call: `DELETE ${oneDeployment}`, may: { project: 40 }, ...job, needs: ['deployment'], answer: [204] },
  ] satisfies MatrixRow[],

  things: {
    deployment: deployed,
    /** An available environment and a stopped one that are years old. */
    'old environment': async ({ server, parent }) => {
      const { world, root } = server
      const on = { project: parent!.id }
      const stale = await world.perform(root, createEnvironment, { ...on, name: server.word('review/') })
      const stopped = await world.perform(root, createEnvironment, { ...on, name: server.word('review/') })
      await world.perform(root, stopEnvironment, { ...on, environmentId: stopped.id })
      const atMs = world.clock.nowMs() - 100 * 86_400_000
      await world.core.db.write((db) =>
        db
          .updateTable('environments')
          .set({ created_at_ms: atMs, updated_at_ms: atMs })
          .where('id', 'in', [stale.id, stopped.id])
          .execute(),
      )
      return {}
    },
    'stopped environment': async ({ server, parent }) => {
      const { world, root } = server
      const { id } = await world.perform(root, createEnvironment, { project: parent!.id, name: server.word('env') })
      await world.perform(root, stopEnvironment, { project: parent!.id, environmentId: id })
      return { environment_id: id }
    },
  },
}
