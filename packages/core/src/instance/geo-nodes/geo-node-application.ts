import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { addApplication, dropApplication, renameApplication } from '../../identity/oauth/application-operations.ts'
import { findApplicationById } from '../../identity/oauth/application-store.ts'
import type { GeoNode } from './geo-node.ts'

/** The fields that the application of a node depends on. */
type ApplicationOwner = Pick<GeoNode, 'url' | 'primary'>

/**
 * Creates, changes or deletes the OAuth application of a node: a secondary has one, which is named after its URL, and a primary
 * has none. Returns the id of the application.
 */
export async function ensureApplication(
  tx: OperationContext & Tx,
  node: ApplicationOwner,
  applicationId: number | undefined,
): Promise<number | undefined> {
  const existing = applicationId === undefined ? undefined : await findApplicationById(tx, applicationId)
  if (node.primary) {
    if (existing !== undefined) await dropApplication(tx, existing.id)
    return undefined
  }
  const draft = applicationDraftOf(node)
  if (existing === undefined) return (await addApplication(tx, draft, { isTrusted: true })).id
  if (existing.name !== draft.name) await renameApplication(tx, existing.id, draft)
  return existing.id
}

const applicationDraftOf = ({ url }: ApplicationOwner) => ({
  name: `Geo node: ${url}`,
  redirectUri: `${new URL(url).href}oauth/geo/callback`,
  scopes: 'read_user',
  isConfidential: true,
})
