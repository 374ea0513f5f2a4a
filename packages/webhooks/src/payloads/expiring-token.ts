import type { ProjectFacts } from '@penstock/core'
import { hookTime, hookTimeOrNull, type Json, projectJson } from './shared-objects.ts'

/** An access token that will expire. */
export interface ExpiringToken {
  readonly id: number
  readonly userId: number | null
  readonly name: string
  readonly createdAtMs: number
  /** `YYYY-MM-DD` */
  readonly expiresAt: string
  readonly lastUsedAtMs: number | null
}

/** A deploy token that will expire. */
interface ExpiringDeployToken {
  readonly id: number
  readonly name: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export const expiringTokenPayload = (facts: ProjectFacts, token: ExpiringToken, externalUrl: string): Json => ({
  object_kind: 'access_token',
  project: projectJson(facts, externalUrl),
  object_attributes: {
    user_id: token.userId,
    created_at: hookTime(token.createdAtMs),
    id: token.id,
    name: token.name,
    expires_at: token.expiresAt,
    last_used_at: hookTimeOrNull(token.lastUsedAtMs ?? undefined),
  },
  event_name: 'expiring_access_token',
})

export const expiringDeployTokenPayload = (
  facts: ProjectFacts,
  token: ExpiringDeployToken,
  externalUrl: string,
): Json => ({
  object_kind: 'deploy_token',
  project: projectJson(facts, externalUrl),
  object_attributes: {
    id: token.id,
    name: token.name,
    created_at: hookTime(token.createdAtMs),
    expires_at: hookTime(token.expiresAtMs),
    revoked: false,
    deploy_token_type: 'project_type',
  },
  event_name: 'expiring_deploy_token',
})
