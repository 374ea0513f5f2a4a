import {
  type AccessToken,
  createGroupToken,
  createImpersonationToken,
  createPersonalToken,
  createProjectToken,
  getGroupToken,
  getImpersonationToken,
  getOwnToken,
  getPersonalToken,
  getProjectToken,
  type IssuedAccessToken,
  listGroupTokens,
  listImpersonationTokens,
  listPersonalTokens,
  listProjectTokens,
  revokeGroupToken,
  revokeImpersonationToken,
  revokeOwnToken,
  revokePersonalToken,
  revokeProjectToken,
  rotateGroupToken,
  rotateOwnGroupToken,
  rotateOwnProjectToken,
  rotateOwnToken,
  rotatePersonalToken,
  rotateProjectToken,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { orderedList, sortedList } from './parameters/lists.ts'

const tokenSchema = z.object({
  id: z.int(),
  name: z.string(),
  revoked: z.boolean(),
  created_at: z.iso.datetime(),
  description: z.string().nullable(),
  scopes: z.array(z.string()),
  user_id: z.int(),
  last_used_at: z.iso.datetime().nullable(),
  active: z.boolean(),
  expires_at: z.iso.date().nullable(),
  // Only for impersonation tokens.
  impersonation: z.boolean().optional(),
  // Only for project and group tokens.
  access_level: z.int().optional(),
  resource_type: z.enum(['project', 'group']).optional(),
  resource_id: z.int().optional(),
})

const tokenJson = (token: AccessToken) => ({
  id: token.id,
  name: token.name,
  revoked: token.isRevoked,
  created_at: isoTime(token.createdAtMs),
  description: token.description ?? null,
  scopes: token.scopes,
  user_id: token.userId,
  last_used_at: isoTime(token.lastUsedAtMs),
  active: token.state === 'valid',
  expires_at: token.expiresAt ?? null,
  ...(token.kind === 'impersonation' && { impersonation: true }),
  ...((token.kind === 'project' || token.kind === 'group') && {
    access_level: token.level,
    resource_type: token.kind,
    resource_id: token.projectId ?? token.groupId,
  }),
})

const tokenShape: Shape<AccessToken> = { schema: tokenSchema.meta({ id: 'AccessToken' }), of: tokenJson }
const issuedShape: Shape<IssuedAccessToken> = {
  schema: tokenSchema.extend({ token: z.string() }).meta({ id: 'IssuedAccessToken' }),
  of: (token) => ({ ...tokenJson(token), token: token.value }),
}

const rotated = { shape: issuedShape, status: 200 } as const
/** A token with the scope `self_rotate` may revoke and rotate itself. */
const selfRotate = { scopes: ['self_rotate'] } as const

const personalTokenRoutes = [
  route({
    method: 'GET',
    path: '/personal_access_tokens',
    operation: listPersonalTokens,
    parameters: sortedList,
    summary: 'List personal access tokens: those of the caller, or those of all users for administrators.',
    shape: tokenShape,
  }),
  route({
    method: 'GET',
    path: '/personal_access_tokens/self',
    operation: getOwnToken,
    summary: 'Get the token that authenticates the request.',
    scopes: ['read_user', 'self_rotate'],
    shape: tokenShape,
  }),
  route({
    method: 'DELETE',
    path: '/personal_access_tokens/self',
    operation: revokeOwnToken,
    summary: 'Revoke the token that authenticates the request.',
    ...selfRotate,
  }),
  route({
    method: 'POST',
    path: '/personal_access_tokens/self/rotate',
    operation: rotateOwnToken,
    summary: 'Replace the token that authenticates the request with a new one.',
    ...selfRotate,
    ...rotated,
  }),
  route({
    method: 'GET',
    path: '/personal_access_tokens/:id',
    operation: getPersonalToken,
    summary: 'Get a personal access token.',
    shape: tokenShape,
  }),
  route({
    method: 'DELETE',
    path: '/personal_access_tokens/:id',
    operation: revokePersonalToken,
    summary: 'Revoke a personal access token.',
  }),
  route({
    method: 'POST',
    path: '/personal_access_tokens/:id/rotate',
    operation: rotatePersonalToken,
    summary: 'Replace a personal access token with a new one.',
    ...rotated,
  }),
  route({
    method: 'POST',
    path: '/users/:user_id/personal_access_tokens',
    operation: createPersonalToken,
    summary: 'Create a personal access token for a user.',
    shape: issuedShape,
  }),
  route({
    method: 'GET',
    path: '/users/:user_id/impersonation_tokens',
    operation: listImpersonationTokens,
    parameters: orderedList,
    scopes: ['read_user'],
    summary: 'List the impersonation tokens of a user.',
    shape: tokenShape,
  }),
  route({
    method: 'GET',
    path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
    operation: getImpersonationToken,
    scopes: ['read_user'],
    summary: 'Get an impersonation token.',
    shape: tokenShape,
  }),
  route({
    method: 'POST',
    path: '/users/:user_id/impersonation_tokens',
    operation: createImpersonationToken,
    summary: 'Create an impersonation token for a user.',
    shape: issuedShape,
  }),
  route({
    method: 'DELETE',
    path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
    operation: revokeImpersonationToken,
    summary: 'Revoke an impersonation token.',
  }),
]

const ofProject = { names: { project: 'id' } } as const
const ofGroup = { names: { group: 'id' } } as const

const projectTokenRoutes = [
  route({
    method: 'GET',
    path: '/projects/:id/access_tokens',
    operation: listProjectTokens,
    parameters: sortedList,
    summary: 'List the access tokens of a project.',
    shape: tokenShape,
    ...ofProject,
  }),
  route({
    method: 'POST',
    path: '/projects/:id/access_tokens',
    operation: createProjectToken,
    summary: 'Create an access token for a project, with a bot user that becomes a member of the project.',
    shape: issuedShape,
    ...ofProject,
  }),
  route({
    method: 'POST',
    path: '/projects/:id/access_tokens/self/rotate',
    operation: rotateOwnProjectToken,
    summary: 'Replace the token that authenticates the request with a new one.',
    ...ofProject,
    ...selfRotate,
    ...rotated,
  }),
  route({
    method: 'GET',
    path: '/projects/:id/access_tokens/:token_id',
    operation: getProjectToken,
    summary: 'Get an access token of a project.',
    shape: tokenShape,
    ...ofProject,
  }),
  route({
    method: 'DELETE',
    path: '/projects/:id/access_tokens/:token_id',
    operation: revokeProjectToken,
    summary: 'Revoke an access token of a project.',
    ...ofProject,
  }),
  route({
    method: 'POST',
    path: '/projects/:id/access_tokens/:token_id/rotate',
    operation: rotateProjectToken,
    summary: 'Replace an access token of a project with a new one.',
    ...ofProject,
    ...rotated,
  }),
]

const groupTokenRoutes = [
  route({
    method: 'GET',
    path: '/groups/:id/access_tokens',
    operation: listGroupTokens,
    parameters: sortedList,
    summary: 'List the access tokens of a group.',
    shape: tokenShape,
    ...ofGroup,
  }),
  route({
    method: 'POST',
    path: '/groups/:id/access_tokens',
    operation: createGroupToken,
    summary: 'Create an access token for a group, with a bot user that becomes a member of the group.',
    shape: issuedShape,
    ...ofGroup,
  }),
  route({
    method: 'POST',
    path: '/groups/:id/access_tokens/self/rotate',
    operation: rotateOwnGroupToken,
    summary: 'Replace the token that authenticates the request with a new one.',
    ...ofGroup,
    ...selfRotate,
    ...rotated,
  }),
  route({
    method: 'GET',
    path: '/groups/:id/access_tokens/:token_id',
    operation: getGroupToken,
    summary: 'Get an access token of a group.',
    shape: tokenShape,
    ...ofGroup,
  }),
  route({
    method: 'DELETE',
    path: '/groups/:id/access_tokens/:token_id',
    operation: revokeGroupToken,
    summary: 'Revoke an access token of a group.',
    ...ofGroup,
  }),
  route({
    method: 'POST',
    path: '/groups/:id/access_tokens/:token_id/rotate',
    operation: rotateGroupToken,
    summary: 'Replace an access token of a group with a new one.',
    ...ofGroup,
    ...rotated,
  }),
]

export const accessTokensArea: Area = {
  tag: 'Access tokens',
  routes: [...personalTokenRoutes, ...projectTokenRoutes, ...groupTokenRoutes],
}
