import type { ReadContext } from '../../base/kit/store-context.ts'
import { equalsInConstantTime } from '../tokens/opaque-secret.ts'
import { digestOf } from '../tokens/token-text.ts'
import type { Application } from './application.ts'
import { findApplicationWithDigest } from './application-store.ts'
import { OAuthRefusal } from './oauth-refusal.ts'

/** The credentials of an application; both are absent if the request has none. */
export interface ClientCredentials {
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
}

/**
 * Returns the application with these credentials; `undefined` if there are none. A public application may omit the secret,
 * but a secret that it sends must be right.
 *
 * @throws OAuthRefusal `invalid_client`, both for an unknown application and for a wrong secret
 */
export async function authenticateClient(
  context: ReadContext,
  { clientId, clientSecret }: ClientCredentials,
): Promise<Application | undefined> {
  if (clientId === undefined) {
    if (clientSecret !== undefined) throw new OAuthRefusal('invalid_client')
    return undefined
  }
  const found = await findApplicationWithDigest(context, clientId)
  if (found === undefined) throw new OAuthRefusal('invalid_client')
  const hasRightSecret = clientSecret !== undefined && equalsInConstantTime(digestOf(clientSecret), found.secretDigest)
  const isPublicWithoutSecret = !found.application.isConfidential && clientSecret === undefined
  if (!hasRightSecret && !isPublicWithoutSecret) throw new OAuthRefusal('invalid_client')
  return found.application
}

/** Works like `authenticateClient`, but rejects missing credentials. @throws OAuthRefusal `invalid_client` */
export async function requireClient(context: ReadContext, credentials: ClientCredentials): Promise<Application> {
  const application = await authenticateClient(context, credentials)
  if (application === undefined) throw new OAuthRefusal('invalid_client')
  return application
}
