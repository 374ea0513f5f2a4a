import type { OAuthRefusal, OAuthRefusalCode } from '@penstock/core'
import type { Reply } from '@penstock/http'

/** The texts of Doorkeeper, GitLab's OAuth library, which clients may match on. Only `too_many_tokens` is an addition. */
const descriptions: Readonly<Record<OAuthRefusalCode, string>> = {
  invalid_request:
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.',
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  unauthorized_client: 'The client is not authorized to revoke this token.',
  unsupported_grant_type: 'The authorization grant type is not supported by the authorization server.',
  unsupported_response_type: 'The authorization server does not support this response type.',
  access_denied: 'The resource owner or authorization server denied the request.',
  authorization_pending: 'The user has not yet decided about the request.',
  slow_down: 'The request is sent too often. Wait five seconds longer between requests.',
  expired_token: 'The device code has expired.',
  too_many_tokens: 'The user has too many tokens for this application. Revoke some of them first.',
}

export function descriptionOf({ code, missing }: OAuthRefusal): string {
  if (missing === undefined) return descriptions[code]
  return `Missing required parameter: ${missing.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}.`
}

const invalidTokenTexts = { invalid: 'is invalid', expired: 'expired', revoked: 'was revoked' }

export const invalidTokenReply = (why: keyof typeof invalidTokenTexts): Reply =>
  refusalReply('invalid_token', `The access token ${invalidTokenTexts[why]}`, 401)

/**
 * The errors that a polling device must distinguish. Their responses have no `WWW-Authenticate` header, because some
 * clients do not read the body of a response that has one.
 */
const withoutChallenge: readonly string[] = [
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
] satisfies OAuthRefusalCode[]

export function refusalReply(error: string, description: string, status: number): Reply {
  return {
    status,
    headers: {
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      ...(!withoutChallenge.includes(error) && {
        'WWW-Authenticate': `Bearer realm="Doorkeeper", error="${error}", error_description="${description}"`,
      }),
    },
    json: { error, error_description: description },
  }
}
