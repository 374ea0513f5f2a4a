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
import { type Area, route, type Shape } from './route.ts'

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
  // Of an impersonation token.
  impersonation: z.boolean().optional(),
  // Of a project or group token.
  access_level: z.int().optional(),
  resource_type: z.enum(['project', 'group']).optional(),
  resource_id: z.int().optional(),
})

const tokenJson = (token: AccessToken) => ({
  id: token.id,
  name: token.name,
  revoked: token.isRevoked,
  created_at: new Date(token.createdAtMs).toISOString(),
  description: token.description ?? null,
  scopes: token.scopes,
  user_id: token.userId,
  last_used_at: token.lastUsedAtMs === undefined ? null : new Date(token.lastUsedAtMs).toISOString(),
  active: token.state === 'valid',
  expires_at: token.expiresAt ?? null,
  ...(token.kind === 'impersonation' && { impersonation: true }),
  ...((token.kind === 'project' || token.kind === 'group') && {
    access_level: token.level,
    resource_type: token.kind,
    resource_id: token.projectId ?? token.groupId,
  }),
})

const tokenShape: Shape<AccessToken> = { schema: tokenSchema, of: tokenJson }
const issuedShape: Shape<IssuedAccessToken> = {
  schema: tokenSchema.extend({ token: z.string() }),
  of: (token) => ({ ...tokenJson(token), token: token.value }),
}

const rotated = { shape: issuedShape, status: 200 } as const
/** A token may always be allowed to do this one thing for itself. */
const selfRotate = { scopes: ['self_rotate'] } as const

const personalTokenRoutes = [
  route({
    method: 'GET',
    path: '/personal_access_tokens',
    operation: listPersonalTokens,
    summary: 'Personal access tokens of the caller, or for administrators of everyone.',
    shape: tokenShape,
  }),
  route({
    method: 'GET',
    path: '/personal_access_tokens/self',
    operation: getOwnToken,
    summary: 'The token that the request carries.',
    scopes: ['read_user', 'self_rotate'],
    shape: tokenShape,
  }),
  route({
    method: 'DELETE',
    path: '/personal_access_tokens/self',
    operation: revokeOwnToken,
    summary: 'Revokes the token that the request carries.',
    ...selfRotate,
  }),
  route({
    method: 'POST',
    path: '/personal_access_tokens/self/rotate',
    operation: rotateOwnToken,
    summary: 'Puts a new token in the place of the one that the request carries.',
    ...selfRotate,
    ...rotated,
  }),
  route({
    method: 'GET',
    path: '/personal_access_tokens/:id',
    operation: getPersonalToken,
    summary: 'One personal access token.',
    shape: tokenShape,
  }),
  route({
    method: 'DELETE',
    path: '/personal_access_tokens/:id',
    operation: revokePersonalToken,
    summary: 'Revokes a personal access token.',
  }),
  route({
    method: 'POST',
    path: '/personal_access_tokens/:id/rotate',
    operation: rotatePersonalToken,
    summary: 'Puts a new token in the place of a personal access token.',
    ...rotated,
  }),
  route({
    method: 'POST',
    path: '/users/:user_id/personal_access_tokens',
    operation: createPersonalToken,
    summary: 'Makes a personal access token for a user.',
    shape: issuedShape,
  }),
  route({
    method: 'GET',
    path: '/users/:user_id/impersonation_tokens',
    operation: listImpersonationTokens,
    scopes: ['read_user'],
    summary: 'Impersonation tokens of a user.',
    shape: tokenShape,
  }),
  route({
    method: 'GET',
    path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
    operation: getImpersonationToken,
    scopes: ['read_user'],
    summary: 'One impersonation token.',
    shape: tokenShape,
  }),
  route({
    method: 'POST',
    path: '/users/:user_id/impersonation_tokens',
    operation: createImpersonationToken,
    summary: 'Makes an impersonation token for a user.',
    shape: issuedShape,
  }),
  route({
    method: 'DELETE',
    path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
    operation: revokeImpersonationToken,
    summary: 'Revokes an impersonation token.',
  }),
]

const ofProject = { names: { project: 'id' } } as const
const ofGroup = { names: { group: 'id' } } as const

const projectTokenRoutes = [
  route({
    method: 'GET',
    path: '/projects/:id/access_tokens',
    operation: listProjectTokens,
    summary: 'Access tokens of a project.',
    shape: tokenShape,
    ...ofProject,
  }),
  route({
    method: 'POST',
    path: '/projects/:id/access_tokens',
    operation: createProjectToken,
    summary: 'Makes an access token of a project, with a bot that is a member of it.',
    shape: issuedShape,
    ...ofProject,
  }),
  route({
    method: 'POST',
    path: '/projects/:id/access_tokens/self/rotate',
    operation: rotateOwnProjectToken,
    summary: 'Puts a new token in the place of the one that the request carries.',
    ...ofProject,
    ...selfRotate,
    ...rotated,
  }),
  route({
    method: 'GET',
    path: '/projects/:id/access_tokens/:token_id',
    operation: getProjectToken,
    summary: 'One access token of a project.',
    shape: tokenShape,
    ...ofProject,
  }),
  route({
    method: 'DELETE',
    path: '/projects/:id/access_tokens/:token_id',
    operation: revokeProjectToken,
    summary: 'Revokes an access token of a project.',
    ...ofProject,
  }),
  route({
    method: 'POST',
    path: '/projects/:id/access_tokens/:token_id/rotate',
    operation: rotateProjectToken,
    summary: 'Puts a new token in the place of an access token of a project.',
    ...ofProject,
    ...rotated,
  }),
]

const groupTokenRoutes = [
  route({
    method: 'GET',
    path: '/groups/:id/access_tokens',
    operation: listGroupTokens,
    summary: 'Access tokens of a group.',
    shape: tokenShape,
    ...ofGroup,
  }),
  route({
    method: 'POST',
    path: '/groups/:id/access_tokens',
    operation: createGroupToken,
    summary: 'Makes an access token of a group, with a bot that is a member of it.',
    shape: issuedShape,
    ...ofGroup,
  }),
  route({
    method: 'POST',
    path: '/groups/:id/access_tokens/self/rotate',
    operation: rotateOwnGroupToken,
    summary: 'Puts a new token in the place of the one that the request carries.',
    ...ofGroup,
    ...selfRotate,
    ...rotated,
  }),
  route({
    method: 'GET',
    path: '/groups/:id/access_tokens/:token_id',
    operation: getGroupToken,
    summary: 'One access token of a group.',
    shape: tokenShape,
    ...ofGroup,
  }),
  route({
    method: 'DELETE',
    path: '/groups/:id/access_tokens/:token_id',
    operation: revokeGroupToken,
    summary: 'Revokes an access token of a group.',
    ...ofGroup,
  }),
  route({
    method: 'POST',
    path: '/groups/:id/access_tokens/:token_id/rotate',
    operation: rotateGroupToken,
    summary: 'Puts a new token in the place of an access token of a group.',
    ...ofGroup,
    ...rotated,
  }),
]

export const accessTokensArea: Area = {
  tag: 'Access tokens',
  routes: [...personalTokenRoutes, ...projectTokenRoutes, ...groupTokenRoutes],
}
