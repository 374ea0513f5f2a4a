import { z } from 'zod'
import {
  hasText,
  id,
  list,
  matches,
  maxCharacters,
  maxLength,
  type ObjectOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { instant } from '../../base/kit/parameter-schemas.ts'
import { parentFields } from '../../base/model/parent.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'
import { parentInput } from '../parents/parent-operations.ts'
import { scopesFrom } from '../tokens/access-token.ts'

/** The rights that a deploy token gives in another system, in the order of answers. */
export const deployTokenScopes: readonly string[] = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
  'read_virtual_registry',
  'write_virtual_registry',
]

/** The fields that a user sets. */
export const deployTokenDraft = {
  name: text('name').check(hasText, maxCharacters(255)),
  /** Missing: a name made from the id. */
  username: text('username')
    .check(matches(/^[\w.+-]+$/, "can contain only letters, digits, '_', '-', '+', and '.'"), maxLength(255))
    .optional(),
  scopes: list('scopes', z.string()).parse(scopesFrom(deployTokenScopes)),
  /** Missing: never. */
  expiresAtMs: time('expires_at_ms').parse(instant).optional(),
}
export const deployTokenFields = {
  id: id(),
  ...parentFields,
  ...deployTokenDraft,
  createdAtMs: time('created_at_ms'),
}

/** A deploy token of a group or project, without its value. The APIs do not accept it as a credential. */
export interface DeployToken extends ObjectOf<typeof deployTokenFields> {}
export type DeployTokenDraft = ObjectOf<typeof deployTokenDraft>

/** A token with its value, which is only returned when it is created. */
export interface IssuedDeployToken extends DeployToken {
  readonly value: string
}

export const isExpiredDeployToken = ({ expiresAtMs }: Pick<DeployToken, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs

export const deployTokenUsername = ({ id, username }: DeployToken, serviceName: string): string =>
  username ?? `${serviceName}+deploy-token-${id}`

/** `active` leaves out expired tokens; false selects all, as on GitLab. */
const filter = { active: z.boolean().default(false), ...pageInput }
export const listAllDeployTokensInput = z.object(filter)
export const listDeployTokensInput = z.object({ ...parentInput, ...filter })
export const deployTokenInput = z.object({ ...parentInput, tokenId: z.int() })
export const createDeployTokenInput = z.object({ ...parentInput, ...parametersOf(deployTokenDraft) })

export const deployTokenEvents: RecordedKind<DeployToken> = {
  noun: 'deploy_token',
  compared: comparedFields(deployTokenFields),
  detailsOf: ({ name }) => ({ name }),
}
