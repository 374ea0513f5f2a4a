import type {
  ApiKey,
  AuditEvent,
  CreatedApiKey,
  CreatedToken,
  EnforcementState,
  IngestToken,
  Role,
  RotatedToken,
} from '../../api/answers.ts'
import { ApiError, getJson, getPage, getTagged, type Page, sendJson, type Tagged } from '../../api/client.ts'
import { getState } from '../../api/readiness.ts'
import type { StateChange } from './enforcement-model.ts'

const INGEST = '/api/v1/ingest_auth'
const TOKENS = `${INGEST}/tokens`
const KEYS = '/api/v1/api_keys'
export const TOKENS_PER_PAGE = 100

const tokenPath = (id: string): string => `${TOKENS}/${encodeURIComponent(id)}`

/**
 * Sets the state, unless someone else has changed it since it was shown. A new token also makes a new version of the state;
 * such a version is accepted.
 *
 * @throws {ApiError} `precondition_failed` if the state is no longer the one that was shown
 */
export async function setState(change: StateChange, shown: Tagged<EnforcementState>): Promise<void> {
  const put = (ifMatch: string) => sendJson('PUT', `${INGEST}/state`, change, { ifMatch })
  try {
    await put(shown.etag)
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'precondition_failed')) throw error
    const current = await getState()
    const { mode, grace_until } = current.data
    if (mode !== shown.data.mode || grace_until !== shown.data.grace_until) throw error
    await put(current.etag)
  }
}

export const listTokens = (cursor: string | null, signal: AbortSignal): Promise<Page<IngestToken>> =>
  getPage<IngestToken>(TOKENS, { limit: TOKENS_PER_PAGE, cursor }, signal)

export const getToken = (id: string): Promise<Tagged<IngestToken>> => getTagged<IngestToken>(tokenPath(id))

export const createToken = (body: object): Promise<CreatedToken> => sendJson<CreatedToken>('POST', TOKENS, body)

export const updateToken = (id: string, body: object, ifMatch: string): Promise<IngestToken> =>
  sendJson<IngestToken>('PATCH', tokenPath(id), body, { ifMatch })

export const rotateToken = (id: string, body: object): Promise<RotatedToken> =>
  sendJson<RotatedToken>('POST', `${tokenPath(id)}/rotate`, body)

export const revokeToken = (id: string): Promise<void> => sendJson<void>('DELETE', tokenPath(id))

export const listAudit = (event: string, cursor: string | null, signal: AbortSignal): Promise<Page<AuditEvent>> =>
  getPage<AuditEvent>(`${INGEST}/audit`, { limit: '50', event, cursor }, signal)

export const listApiKeys = (signal: AbortSignal): Promise<readonly ApiKey[]> =>
  getJson<readonly ApiKey[]>(KEYS, {}, signal)

export interface ApiKeyDraft {
  readonly name: string
  readonly role: Role
  readonly expires_at: string | null
}

export const createApiKey = (draft: ApiKeyDraft): Promise<CreatedApiKey> => sendJson<CreatedApiKey>('POST', KEYS, draft)

export const revokeApiKey = (id: string): Promise<void> => sendJson<void>('DELETE', `${KEYS}/${encodeURIComponent(id)}`)
