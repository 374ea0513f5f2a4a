import {
  type GeoNodeStatus,
  geoNodeFields,
  type ReplicableCounts,
  type ShownGeoNode,
  serviceVersion,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { jsonShape, type Members, member, membersOf, pick } from '../../routing/json-shape.ts'
import type { Shape } from '../../routing/route.ts'

/** The word in the paths and links: `geo_nodes` is deprecated and has become `geo_sites`. */
export type GeoNoun = 'node' | 'site'

const of = (schema: z.ZodType, value: (node: ShownGeoNode) => unknown) => member<ShownGeoNode>(schema, value)
const plain = membersOf(geoNodeFields)

const linksOf = (noun: GeoNoun, { id }: ShownGeoNode, externalUrl: string) => {
  const self = `${externalUrl}/api/v4/geo_${noun}s/${id}`
  return { self, status: `${self}/status`, repair: `${self}/repair` }
}
const nodeLinks = { self: z.string(), status: z.string(), repair: z.string() }

/** Returns the members of a node in the order of the record. */
const nodeMembers = (noun: GeoNoun): Members<ShownGeoNode> => ({
  ...pick(plain, 'id', 'name', 'url'),
  internalUrl: of(z.string(), ({ url, internalUrl }) => internalUrl ?? url),
  ...pick(plain, 'primary', 'enabled'),
  current: of(z.boolean(), ({ isCurrent }) => isCurrent),
  ...pick(plain, 'filesMaxCapacity', 'reposMaxCapacity', 'verificationMaxCapacity', 'containerRepositoriesMaxCapacity'),
  ...pick(plain, 'selectiveSyncType', 'selectiveSyncShards'),
  selectiveSyncNamespaceIds: of(z.array(z.int()), ({ selectiveSyncNamespaceIds }) => selectiveSyncNamespaceIds),
  ...pick(plain, 'minimumReverificationInterval', 'syncObjectStorage', 'blobDownloadTimeout'),
  cloneProtocol: of(z.literal('http'), () => 'http'),
  webEditUrl: member(z.string(), ({ id }, { externalUrl }) => `${externalUrl}/admin/geo/sites/${id}/edit`),
  /** Only secondaries have it. */
  webGeoReplicationDetailsUrl: member(z.string().optional(), ({ id, primary }, { externalUrl }) =>
    primary ? undefined : `${externalUrl}/admin/geo/sites/${id}/replication/lfs_objects`,
  ),
  _links: member(z.object(nodeLinks), (node, { externalUrl }) => linksOf(noun, node, externalUrl)),
})

const status = (schema: z.ZodType, value: (status: GeoNodeStatus) => unknown) => member<GeoNodeStatus>(schema, value)
const constant = (schema: z.ZodType, value: unknown) => status(schema, () => value)
/** A number that the primary does not know. */
const unknown = constant(z.int().nullable(), null)
/** The share of an unknown number. */
const noPercentage = constant(z.string(), '0.00%')
/** A time that is not known, in Unix seconds. */
const unknownTimestamp = constant(z.int(), 0)

/** The kinds of things that GitLab replicates. */
const replicableTypes = [
  'lfs_objects job_artifacts achievement_uploads bulk_import_export_upload_uploads ai_vectorizable_file_uploads',
  'import_export_upload_uploads vulnerability_archive_export_uploads vulnerability_export_uploads',
  'project_import_export_relation_export_upload_uploads vulnerability_export_part_uploads merge_request_diffs',
  'user_permission_export_upload_uploads issuable_metric_image_uploads packages_debian_project_component_files',
  'alert_management_metric_image_uploads personal_snippet_uploads organization_detail_uploads package_files',
  'dependency_list_export_part_uploads pages_deployments ci_secure_files container_repositories',
  'dependency_proxy_blobs dependency_proxy_manifests design_management_repositories group_wiki_repositories',
  'pipeline_artifacts project_repositories project_wiki_repositories snippet_repositories terraform_state_versions',
  'uploads abuse_report_uploads project_uploads group_uploads user_uploads design_management_action_uploads',
].flatMap((line) => line.split(' '))

/** How the service counts a kind of things. It does not count other kinds. */
const countsOfTypes: Readonly<Record<string, keyof ReplicableCounts>> = {
  project_repositories: 'projects',
  snippet_repositories: 'snippets',
  merge_request_diffs: 'mergeRequestVersions',
}

/** Returns the members for one kind of things. Only the count can be known: a primary replicates and verifies nothing. */
function membersOfType(type: string): Members<GeoNodeStatus> {
  const count = countsOfTypes[type]
  const named: Members<GeoNodeStatus> = {
    count: count === undefined ? unknown : countOf(count),
    checksum_total_count: unknown,
    checksummed_count: unknown,
    checksum_failed_count: unknown,
    synced_count: unknown,
    failed_count: unknown,
    registry_count: unknown,
    verification_total_count: unknown,
    verified_count: unknown,
    verification_failed_count: unknown,
    synced_in_percentage: noPercentage,
    verified_in_percentage: noPercentage,
    oldest_unsynced_time: constant(z.iso.datetime().nullable(), null),
  }
  return Object.fromEntries(Object.entries(named).map(([name, each]) => [`${type}_${name}`, each]))
}

const countOf = (count: keyof ReplicableCounts) => status(z.int(), ({ counts }) => counts[count])

const statusLinks = (noun: GeoNoun) => ({ self: z.string(), [noun]: z.string() })

const statusMembers = (noun: GeoNoun): Members<GeoNodeStatus> => ({
  geoNodeId: status(z.int(), ({ node }) => node.id),
  // The status is read from the database when it is requested, so it is never old.
  healthy: constant(z.boolean(), true),
  health: constant(z.string().nullable(), 'Healthy'),
  healthStatus: constant(z.enum(['Healthy', 'Unhealthy']), 'Healthy'),
  missingOauthApplication: constant(z.boolean(), false),
  dbReplicationLagSeconds: unknown,
  projectsCount: countOf('projects'),
  repositoriesCount: countOf('projects'),
  replicationSlotsCount: unknown,
  replicationSlotsUsedCount: unknown,
  replicationSlotsUsedInPercentage: noPercentage,
  replicationSlotsMaxRetainedWalBytes: unknown,
  repositoriesCheckedCount: unknown,
  repositoriesCheckedFailedCount: unknown,
  repositoriesCheckedInPercentage: noPercentage,
  gitFetchEventCountWeekly: unknown,
  gitPushEventCountWeekly: unknown,
  proxyRemoteRequestsEventCountWeekly: unknown,
  proxyLocalRequestsEventCountWeekly: unknown,
  lastEventId: unknown,
  lastEventTimestamp: unknownTimestamp,
  cursorLastEventId: unknown,
  cursorLastEventTimestamp: unknownTimestamp,
  lastSuccessfulStatusCheckTimestamp: member(z.int(), (_status, { nowMs }) => Math.floor(nowMs / 1_000)),
  version: constant(z.string(), serviceVersion.version),
  revision: constant(z.string(), serviceVersion.revision),
  ...Object.assign({}, ...replicableTypes.map(membersOfType)),
  containerRepositoriesReplicationEnabled: constant(z.boolean().nullable(), null),
  selectiveSyncType: status(z.string().nullable(), ({ node }) => node.selectiveSyncType ?? null),
  // A primary has everything, whatever is selected.
  namespaces: constant(z.array(z.object({})), []),
  updatedAt: member(z.iso.datetime(), (_status, { nowMs }) => isoTime(nowMs)),
  storageShards: constant(z.array(z.object({ name: z.string() })), [{ name: 'default' }]),
  storageShardsMatch: constant(z.boolean(), true),
  _links: member(z.object(statusLinks(noun)), ({ node }, { externalUrl }) => {
    const { self, status: own } = linksOf(noun, node, externalUrl)
    return { self: own, [noun]: self }
  }),
})

interface GeoShapes {
  readonly node: Shape<ShownGeoNode>
  readonly status: Shape<GeoNodeStatus>
  /** A node together with its status: what both have is that of the node, except that `_links` has all links. */
  readonly repaired: Shape<GeoNodeStatus>
}

/** Returns the shapes of nodes, or of the same things as sites. */
export function geoShapes(noun: GeoNoun): GeoShapes {
  const name = noun === 'node' ? 'GeoNode' : 'GeoSite'
  const [ofNode, ofStatus] = [nodeMembers(noun), statusMembers(noun)]
  const { _links: links, ...others } = ofNode
  const ofRepaired: Members<GeoNodeStatus> = {
    ...ofStatus,
    ...Object.fromEntries(
      Object.entries(others).map(([key, each]) => [
        key,
        member<GeoNodeStatus>(each.schema, ({ node }, context) => each.of(node, context)),
      ]),
    ),
    _links: member(z.object({ ...statusLinks(noun), ...nodeLinks }), (status, context) => ({
      ...(ofStatus._links!.of(status, context) as object),
      ...(links!.of(status.node, context) as object),
    })),
  }
  return {
    node: jsonShape(name, ofNode),
    status: jsonShape(`${name}Status`, ofStatus),
    repaired: jsonShape(`Repaired${name}`, ofRepaired),
  }
}
