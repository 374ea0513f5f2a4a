import type { ReadContext } from '../kit/context.ts'
import { digestOf } from '../tokens/token-text.ts'
import type { Application } from './application.ts'
import { findApplicationWithDigest } from './application-store.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import { equalsInConstantTime } from './opaque-secret.ts'

/** How an application says who it is; absent, nobody says anything. */
export interface ClientCredentials {
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
}

/**
 * The application behind the credentials, `undefined` when there are none. A public one need not show a secret, but one
 * that it shows must be right.
 *
 * @throws OAuthRefusal `invalid_client`, the same for an unknown one and a wrong secret
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
  const isKnownBySecret = clientSecret !== undefined && equalsInConstantTime(digestOf(clientSecret), found.secretDigest)
  const mayStaySilent = !found.application.isConfidential && clientSecret === undefined
  if (!isKnownBySecret && !mayStaySilent) throw new OAuthRefusal('invalid_client')
  return found.application
}

/** @throws OAuthRefusal `invalid_client`, also when there are no credentials */
export async function requireClient(context: ReadContext, credentials: ClientCredentials): Promise<Application> {
  const application = await authenticateClient(context, credentials)
  if (application === undefined) throw new OAuthRefusal('invalid_client')
  return application
}
