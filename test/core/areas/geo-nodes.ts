import { createGeoNode, listGeoNodes, removeApplication } from '@penstock/core'
import type { MatrixRow } from '../http-matrix-row.ts'
import type { MatrixServer } from '../http-matrix-server.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const members = {
  id: 'int',
  name: 'text',
  url: 'text',
  internal_url: 'text',
  primary: 'flag',
  enabled: 'flag',
  current: 'flag',
  files_max_capacity: 'int',
  repos_max_capacity: 'int',
  verification_max_capacity: 'int',
  container_repositories_max_capacity: 'int',
  selective_sync_type: 'text?',
  selective_sync_shards: { listOf: 'text' },
  selective_sync_namespace_ids: { listOf: 'int' },
  minimum_reverification_interval: 'int',
  sync_object_storage: 'flag',
  blob_download_timeout: 'int',
  clone_protocol: { is: 'http' },
  web_edit_url: 'text',
  _links: 'map',
} as const satisfies Record<string, Shape>
const anyNode: Shape = { has: members }
const secondary: Shape = { exactly: { ...members, web_geo_replication_details_url: 'text' } }

const statusMembers = {
  geo_node_id: 'int',
  healthy: 'flag',
  health: 'text?',
  health_status: 'text',
  missing_oauth_application: 'flag',
  db_replication_lag_seconds: 'int?',
  projects_count: 'int',
  repositories_count: 'int',
  replication_slots_count: 'int?',
  replication_slots_used_count: 'int?',
  replication_slots_used_in_percentage: 'text',
  replication_slots_max_retained_wal_bytes: 'int?',
  repositories_checked_count: 'int?',
  repositories_checked_failed_count: 'int?',
  repositories_checked_in_percentage: 'text',
  git_fetch_event_count_weekly: 'int?',
  git_push_event_count_weekly: 'int?',
  proxy_remote_requests_event_count_weekly: 'int?',
  proxy_local_requests_event_count_weekly: 'int?',
  last_event_id: 'int?',
  last_event_timestamp: 'int',
  cursor_last_event_id: 'int?',
  cursor_last_event_timestamp: 'int',
  last_successful_status_check_timestamp: 'int',
  version: 'text',
  revision: 'text',
  lfs_objects_count: 'int?',
  job_artifacts_failed_count: 'int?',
  project_repositories_count: 'int',
  uploads_verified_in_percentage: 'text',
  updated_at: 'time',
  storage_shards_match: 'flag',
} as const satisfies Record<string, Shape>
const status: Shape = { has: { ...statusMembers, _links: 'map' } }
const repaired: Shape = { has: { ...statusMembers, ...members } }

const rowsOf = (noun: 'node' | 'site'): MatrixRow[] => {
  const all = `/geo_${noun}s`
  const may = 'administrators'
  return [
    { call: `GET ${all}`, may, answer: [200, listOf(anyNode)], needs: ['geo secondary'] },
    {
      call: `POST ${all}`,
      may,
      answer: [201, secondary],
      needs: ['geo name'],
      send: { name: '{name}', url: 'https://a.test' },
    },
    { call: `GET ${all}/:id`, may, answer: [200, secondary], needs: ['geo secondary'] },
    {
      call: `PUT ${all}/:id`,
      may,
      answer: [200, secondary],
      needs: ['geo secondary', 'geo name'],
      send: { files_max_capacity: '{capacity}' },
    },
    { call: `DELETE ${all}/:id`, may, answer: [204], needs: ['new geo secondary'] },
    { call: `POST ${all}/:id/repair`, may, answer: [200, repaired], needs: ['lost application', 'geo primary'] },
    { call: `GET ${all}/:id/status`, may, answer: [200, status], needs: ['geo primary'] },
    { call: `GET ${all}/status`, may, answer: [200, listOf(status)], needs: ['geo primary'] },
    { call: `GET ${all}/statuses`, may, answer: [200, listOf(status)], needs: ['geo primary'] },
    { call: `GET ${all}/current/failures`, may, answer: [200, listOf('map')], mayBeEmpty: true },
  ]
}

/** Returns the first of the nodes that fits, or a new one. Rows share nodes, because their number is limited. */
async function nodeOf(
  { world, root }: MatrixServer,
  draft: { readonly name: string; readonly primary: boolean },
): Promise<{ readonly id: number; readonly applicationId: number | undefined }> {
  const { items } = await world.perform(root, listGeoNodes, { perPage: 100 })
  const existing = items.find(({ name, primary }) => primary === draft.primary && (primary || name === draft.name))
  return existing ?? world.perform(root, createGeoNode, { ...draft, url: 'https://eu.example.test' })
}

let names = 0

export const area: MatrixArea = {
  access: {},
  rows: [...rowsOf('node'), ...rowsOf('site')],
  things: {
    'geo secondary': async ({ server }) => ({ id: (await nodeOf(server, { name: 'eu-2', primary: false })).id }),
    'new geo secondary': async ({ server }) => {
      names += 1
      return { id: (await nodeOf(server, { name: `old-${names}`, primary: false })).id }
    },
    'lost application': async ({ server }) => {
      const { applicationId } = await nodeOf(server, { name: 'lost', primary: false })
      if (applicationId) await server.world.perform(server.root, removeApplication, { id: applicationId })
      return {}
    },
    'geo primary': async ({ server }) => ({ id: (await nodeOf(server, { name: 'main', primary: true })).id }),
    'geo name': async () => {
      names += 1
      return { name: `new-${names}`, capacity: names }
    },
  },
}
