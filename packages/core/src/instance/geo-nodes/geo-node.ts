import { z } from 'zod'
import { MAX_INTEGER, off, on } from '../../base/kit/common-fields.ts'
import {
  changesOf,
  hasText,
  id,
  int,
  list,
  maxLength,
  type ObjectOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import type { CoreSettings } from '../../base/operations/context.ts'

const MAX_TEXT = 255
const MAX_SHARDS = 100
const MAX_BLOB_DOWNLOAD_SECONDS = 86_400

const selectiveSyncTypes = ['namespaces', 'shards'] as const

const within =
  (min: number, max = MAX_INTEGER) =>
  (value: number) =>
    value < min ? `must be greater than or equal to ${min}` : value > max && `must be less than or equal to ${max}`
const capacity = <Column extends string>(column: Column, fallback: number) =>
  int(column).default(fallback).check(within(0))

const isWebAddress = (value: string): string | false => {
  if (value.trim() === '') return false
  if (!URL.canParse(value)) return 'must be a valid URL'
  const { protocol, host, username, password, search, hash } = new URL(value)
  if (!/^https?:$/.test(protocol)) return 'is blocked: Only allowed schemes are http, https'
  // A credential would be shown to all administrators, and a path cannot be added behind a query.
  const isPlain = host !== '' && [username, password, search, hash].every((part) => part === '')
  return !(isPlain && /^https?:\/\/\S+$/i.test(value)) && 'must be a valid URL'
}

/** The fields that an administrator sets, except the groups. */
export const geoNodeDraft = {
  name: text('name').check(hasText, maxLength(MAX_TEXT)),
  /** Ends with a slash, as the internal URL does. */
  url: text('url').check(hasText, maxLength(MAX_TEXT), isWebAddress),
  /** The URL that other nodes use; `undefined` if it is `url`. */
  internalUrl: text('internal_url').check(maxLength(MAX_TEXT), isWebAddress).optional(),
  primary: off('is_primary'),
  enabled: on('is_enabled'),
  filesMaxCapacity: capacity('files_max_capacity', 10),
  reposMaxCapacity: capacity('repos_max_capacity', 25),
  verificationMaxCapacity: capacity('verification_max_capacity', 100),
  containerRepositoriesMaxCapacity: capacity('container_repositories_max_capacity', 10),
  syncObjectStorage: off('sync_object_storage'),
  selectiveSyncType: text('selective_sync_type')
    .check((value) => !(selectiveSyncTypes as readonly string[]).includes(value) && 'is not included in the list')
    .optional(),
  selectiveSyncShards: list('selective_sync_shards', z.string().max(MAX_TEXT))
    .default([])
    .check((shards) => shards.length > MAX_SHARDS && `is too long (maximum is ${MAX_SHARDS} entries)`),
  minimumReverificationInterval: int('minimum_reverification_interval').default(90).check(within(1)),
  blobDownloadTimeout: int('blob_download_timeout').default(28_800).check(within(1, MAX_BLOB_DOWNLOAD_SECONDS)),
}
export const geoNodeFields = {
  id: id(),
  ...geoNodeDraft,
  /** The application through which users of a secondary sign in; `undefined` for a primary, or if it was removed. */
  applicationId: int('oauth_application_id').optional(),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A site that serves the data of this service, or replicates them. */
export interface GeoNode extends ObjectOf<typeof geoNodeFields> {
  /** The ids of the groups that are replicated if the selective synchronization is `namespaces`, in ascending order. */
  readonly selectiveSyncNamespaceIds: readonly number[]
}
export type GeoNodeDraft = ObjectOf<typeof geoNodeDraft> & Pick<GeoNode, 'selectiveSyncNamespaceIds'>

const namespaceIds = z.array(z.int().min(1).max(MAX_INTEGER)).max(1_000)

export const listGeoNodesInput = z.object(pageInput)
export const geoNodeInput = z.object({ geoNodeId: z.int() })
export const createGeoNodeInput = z.object({
  ...parametersOf(geoNodeDraft),
  selectiveSyncNamespaceIds: namespaceIds.default([]),
})
export const updateGeoNodeInput = z.object({
  geoNodeId: z.int(),
  ...changesOf(geoNodeDraft),
  selectiveSyncNamespaceIds: namespaceIds.optional(),
})
export const geoNodeStatusInput = z.object({
  geoNodeId: z.int(),
  refresh: z.boolean().optional().meta({ description: 'Accepted; the status is read at every request.' }),
})

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`)

/** Returns the draft as it is stored: URLs end with a slash, and the internal URL is left out if it is the other one. */
export function storedGeoNode<Draft extends GeoNodeDraft>(draft: Draft): Draft {
  const [name, url] = [draft.name.trim(), withSlash(draft.url.trim())]
  const internalUrl = draft.internalUrl === undefined ? undefined : withSlash(draft.internalUrl.trim())
  return {
    ...draft,
    name: withSlash(name) === url ? url : name,
    url,
    internalUrl: internalUrl === url ? undefined : internalUrl,
    selectiveSyncNamespaceIds: [...new Set(draft.selectiveSyncNamespaceIds)].toSorted((one, other) => one - other),
  }
}

/** Returns the name of the node that this process belongs to. By default it is the external URL. */
const currentGeoNodeName = ({ geoNodeName, externalUrl }: CoreSettings): string => geoNodeName ?? withSlash(externalUrl)

/** Returns whether a node with this name is the one that this process belongs to. */
export const isCurrentGeoNode = ({ name }: Pick<GeoNode, 'name'>, settings: CoreSettings): boolean =>
  withSlash(name) === withSlash(currentGeoNodeName(settings))
