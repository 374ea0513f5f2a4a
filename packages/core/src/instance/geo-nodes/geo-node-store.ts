import type { Selectable } from 'kysely'
import { always } from '../../base/kit/conditions.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { countRows, deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import { type GeoNode, type GeoNodeDraft, geoNodeDraft, geoNodeFields } from './geo-node.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    geo_nodes: GeoNodesTable
    geo_node_groups: GeoNodeGroupsTable
  }
}

interface GeoNodesTable extends ColumnsOf<typeof geoNodeFields> {}
interface GeoNodeGroupsTable {
  geo_node_id: number
  group_id: number
}

/** The limit of nodes, so that all of them can be read at once. */
export const MAX_GEO_NODES = 100

/** Returns all nodes, by id. */
export async function allGeoNodes(context: Pick<ReadContext, 'db'>): Promise<GeoNode[]> {
  const rows = await context.db.selectFrom('geo_nodes').selectAll().orderBy('id').limit(MAX_GEO_NODES).execute()
  return withGroups(context, rows)
}

/** @throws DomainError `not_found` */
export async function getGeoNode(context: ReadContext, id: number): Promise<GeoNode> {
  const rows = await context.db.selectFrom('geo_nodes').selectAll().where('id', '=', id).execute()
  const [node] = await withGroups(context, rows)
  if (node === undefined) throw notFound()
  return node
}

export async function insertGeoNode(
  tx: Tx,
  { selectiveSyncNamespaceIds, ...draft }: GeoNodeDraft,
  applicationId: number | undefined,
): Promise<GeoNode> {
  const row = await insertRow(tx, 'geo_nodes', {
    ...toRow(geoNodeDraft, draft),
    oauth_application_id: applicationId ?? null,
    created_at_ms: tx.nowMs,
    updated_at_ms: tx.nowMs,
  })
  await insertGroups(tx, row.id, selectiveSyncNamespaceIds)
  return { ...fromRow(geoNodeFields, row), selectiveSyncNamespaceIds }
}

export async function updateGeoNode(
  tx: Tx,
  id: number,
  { selectiveSyncNamespaceIds, ...draft }: GeoNodeDraft,
  applicationId: number | undefined,
): Promise<GeoNode> {
  const columns = { ...toRow(geoNodeDraft, draft), oauth_application_id: applicationId ?? null }
  const row = await updateRow(tx, 'geo_nodes', id, { ...columns, updated_at_ms: tx.nowMs })
  await tx.db.deleteFrom('geo_node_groups').where('geo_node_id', '=', id).execute()
  await insertGroups(tx, id, selectiveSyncNamespaceIds)
  return { ...fromRow(geoNodeFields, row), selectiveSyncNamespaceIds }
}

/** Sets the application of a node that has lost it. */
export async function setApplicationOfGeoNode({ db }: Tx, id: number, applicationId: number): Promise<void> {
  await db.updateTable('geo_nodes').set({ oauth_application_id: applicationId }).where('id', '=', id).execute()
}

export const deleteGeoNode = (tx: Tx, id: number) => deleteRow(tx, 'geo_nodes', id)

/** The numbers of the replicable things of this service that can be counted. */
export interface ReplicableCounts {
  readonly projects: number
  readonly snippets: number
  readonly mergeRequestVersions: number
}

export async function countReplicables(context: ReadContext): Promise<ReplicableCounts> {
  const [projects, snippets, mergeRequestVersions] = await Promise.all([
    countRows(context, 'projects', () => always),
    countRows(context, 'snippets', () => always),
    countRows(context, 'merge_request_versions', () => always),
  ])
  return { projects, snippets, mergeRequestVersions }
}

async function insertGroups({ db }: Tx, nodeId: number, groupIds: readonly number[]): Promise<void> {
  if (groupIds.length === 0) return
  const rows = groupIds.map((groupId) => ({ geo_node_id: nodeId, group_id: groupId }))
  await db.insertInto('geo_node_groups').values(rows).execute()
}

async function withGroups(
  { db }: Pick<ReadContext, 'db'>,
  rows: readonly Selectable<GeoNodesTable>[],
): Promise<GeoNode[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const groups = await db
    .selectFrom('geo_node_groups')
    .selectAll()
    .where('geo_node_id', 'in', ids)
    .orderBy('group_id')
    .execute()
  return rows.map((row) => ({
    ...fromRow(geoNodeFields, row),
    selectiveSyncNamespaceIds: groups.flatMap(({ geo_node_id, group_id }) => (geo_node_id === row.id ? group_id : [])),
  }))
}
