import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { DomainError, invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { brokenRules, newObject, withInput } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageInput } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Group } from '../../base/model/group.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { comparedFields, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { findGroups } from '../../identity/groups/group-store.ts'
import { dropApplication } from '../../identity/oauth/application-operations.ts'
import {
  createGeoNodeInput,
  type GeoNode,
  type GeoNodeDraft,
  geoNodeDraft,
  geoNodeInput,
  geoNodeStatusInput,
  isCurrentGeoNode,
  listGeoNodesInput,
  storedGeoNode,
  updateGeoNodeInput,
} from './geo-node.ts'
import { ensureApplication } from './geo-node-application.ts'
import {
  allGeoNodes,
  countReplicables,
  deleteGeoNode,
  getGeoNode,
  insertGeoNode,
  MAX_GEO_NODES,
  type ReplicableCounts,
  setApplicationOfGeoNode,
  updateGeoNode,
} from './geo-node-store.ts'

/** A node, with whether this process belongs to it. */
export interface ShownGeoNode extends GeoNode {
  readonly isCurrent: boolean
}

/** The report of a primary node about itself. */
export interface GeoNodeStatus {
  readonly node: ShownGeoNode
  readonly counts: ReplicableCounts
}

export const listGeoNodes = unscopedQuery(
  { name: 'listGeoNodes', caller: 'administrator', input: listGeoNodesInput },
  async (context, page) => pageOf(await shownNodes(context), page),
)

export const getGeoNodeById = unscopedQuery(
  { name: 'getGeoNode', caller: 'administrator', input: geoNodeInput },
  async (context, { geoNodeId }) => shown(await getGeoNode(context, geoNodeId), context.core),
)

/** Finds a node by its name, or the node that this process belongs to. */
export const findGeoNodeByName = unscopedQuery(
  {
    name: 'findGeoNodeByName',
    caller: 'administrator',
    input: z.object({ name: z.string().max(255).optional() }),
  },
  async (context, { name }): Promise<ShownGeoNode> => {
    const node = (await shownNodes(context)).find((each) => (name === undefined ? each.isCurrent : each.name === name))
    if (node === undefined) throw notFound()
    return node
  },
)

/** Returns the groups that a node replicates, by id. */
export const listGroupsOfGeoNode = unscopedQuery(
  { name: 'listGroupsOfGeoNode', caller: 'administrator', input: geoNodeInput },
  async (context, { geoNodeId }): Promise<Group[]> => {
    const { selectiveSyncNamespaceIds } = await getGeoNode(context, geoNodeId)
    const groups = await findGroups(context, selectiveSyncNamespaceIds)
    return selectiveSyncNamespaceIds.flatMap((id) => groups.get(id) ?? [])
  },
)

export const createGeoNode = unscopedCommand(
  { name: 'createGeoNode', caller: 'administrator', input: createGeoNodeInput },
  async (tx, { selectiveSyncNamespaceIds, ...input }): Promise<ShownGeoNode> => {
    const draft = storedGeoNode({ ...newObject(geoNodeDraft, input), selectiveSyncNamespaceIds })
    const others = await allGeoNodes(tx)
    await requireValid(tx, draft, others)
    if (others.length >= MAX_GEO_NODES) {
      throw new DomainError({ code: 'refused', message: `There are ${MAX_GEO_NODES} Geo nodes already` })
    }
    const node = await insertGeoNode(tx, draft, await ensureApplication(tx, draft, undefined))
    await recordChange(tx, geoNodeEvents, 'created', { after: node })
    return shown(node, tx.core)
  },
)

export const updateGeoNodeSettings = unscopedCommand(
  { name: 'updateGeoNode', caller: 'administrator', input: updateGeoNodeInput },
  async (tx, { geoNodeId, selectiveSyncNamespaceIds, ...input }): Promise<ShownGeoNode> => {
    const before = await getGeoNode(tx, geoNodeId)
    const groupIds = selectiveSyncNamespaceIds ?? before.selectiveSyncNamespaceIds
    const draft = storedGeoNode({
      ...withInput(geoNodeDraft, before, input),
      selectiveSyncNamespaceIds: groupIds,
    })
    const others = (await allGeoNodes(tx)).filter(({ id }) => id !== before.id)
    await requireValid(tx, draft, others)
    if (isDeepStrictEqual(draft, before)) return shown(before, tx.core)
    const node = await updateGeoNode(tx, before.id, draft, await ensureApplication(tx, draft, before.applicationId))
    await recordChange(tx, geoNodeEvents, 'updated', { before, after: node })
    return shown(node, tx.core)
  },
)

export const removeGeoNode = unscopedCommand(
  { name: 'removeGeoNode', caller: 'administrator', input: geoNodeInput, isConditional: true },
  async (tx, { geoNodeId }) => {
    const node = await getGeoNode(tx, geoNodeId)
    tx.requireUnmodified(node.updatedAtMs)
    await deleteGeoNode(tx, node.id)
    if (node.applicationId !== undefined) await dropApplication(tx, node.applicationId)
    await recordChange(tx, geoNodeEvents, 'removed', { before: node })
  },
)

/**
 * Recreates the OAuth applications that secondaries have lost, because the primary signs their users in. Returns the status of
 * the primary.
 */
export const repairGeoNode = unscopedCommand(
  { name: 'repairGeoNode', caller: 'administrator', input: geoNodeInput },
  async (tx, { geoNodeId }): Promise<GeoNodeStatus> => {
    const node = await getGeoNode(tx, geoNodeId)
    if (!node.primary) {
      const message = '400 Bad request - Repair works only against the primary node'
      throw new DomainError({ code: 'refused', message })
    }
    for (const each of await allGeoNodes(tx)) {
      if (each.primary || each.applicationId !== undefined) continue
      await setApplicationOfGeoNode(tx, each.id, (await ensureApplication(tx, each, undefined))!)
    }
    return statusOf(tx, shown(node, tx.core))
  },
)

/** Lists the statuses of nodes. Only a primary has one, because no secondary reports to it. */
export const listGeoNodeStatuses = unscopedQuery(
  { name: 'listGeoNodeStatuses', caller: 'administrator', input: listGeoNodesInput },
  async (context, page): Promise<Page<GeoNodeStatus>> => {
    const primaries = (await shownNodes(context)).filter(({ primary }) => primary)
    return pageOf(await Promise.all(primaries.map((node) => statusOf(context, node))), page)
  },
)

/** @throws DomainError `not_found` for a secondary, which has no status */
export const getGeoNodeStatus = unscopedQuery(
  { name: 'getGeoNodeStatus', caller: 'administrator', input: geoNodeStatusInput },
  async (context, { geoNodeId }): Promise<GeoNodeStatus> => {
    const node = await getGeoNode(context, geoNodeId)
    if (!node.primary) throw notFound('Status for Geo node not found')
    return statusOf(context, shown(node, context.core))
  },
)

/** Lists what this node could not replicate. This service replicates nothing, so there are no failures. */
export const listGeoNodeFailures = unscopedQuery(
  { name: 'listGeoNodeFailures', caller: 'administrator', input: z.object(pageInput) },
  async (_context, page): Promise<Page<never>> => pageOf([], page),
)

const shown = (node: GeoNode, { settings }: Core): ShownGeoNode => ({
  ...node,
  isCurrent: isCurrentGeoNode(node, settings),
})

const shownNodes = async (context: ReadContext & { readonly core: Core }): Promise<ShownGeoNode[]> =>
  (await allGeoNodes(context)).map((node) => shown(node, context.core))

const statusOf = async (context: ReadContext, node: ShownGeoNode): Promise<GeoNodeStatus> => ({
  node,
  counts: await countReplicables(context),
})

const pageOf = <Item>(items: readonly Item[], { page, perPage }: PageRequest): Page<Item> => ({
  items: items.slice((page - 1) * perPage, page * perPage),
  page,
  perPage,
  hasNext: items.length > page * perPage,
  total: items.length,
})

/** @throws DomainError `invalid` */
async function requireValid(
  tx: Tx & { readonly core: Core },
  draft: GeoNodeDraft,
  others: readonly GeoNode[],
): Promise<void> {
  const isTaken = others.some(({ name }) => name.toLowerCase() === draft.name.toLowerCase())
  const isSecondPrimary = draft.primary && others.some(({ primary }) => primary)
  const groups = await findGroups(tx, draft.selectiveSyncNamespaceIds)
  const isLockedOut = !draft.primary && isCurrentGeoNode(draft, tx.core.settings)
  const errors = {
    ...brokenRules(geoNodeDraft, draft, {
      ...(isTaken && { name: [errorTexts.taken] }),
      ...(isSecondPrimary && { primary: ['node already exists'] }),
    }),
    ...(groups.size < draft.selectiveSyncNamespaceIds.length && {
      selectiveSyncNamespaceIds: ['contains a group that does not exist'],
    }),
    ...(isLockedOut && {
      base: ['Current node must be the primary node or you will be locking yourself out'],
    }),
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

const geoNodeEvents: RecordedKind<GeoNode> = {
  noun: 'geo_node',
  compared: {
    ...comparedFields(geoNodeDraft),
    selectiveSyncNamespaceIds: ({ selectiveSyncNamespaceIds }) => selectiveSyncNamespaceIds,
  },
  detailsOf: ({ name }) => ({ name }),
}
