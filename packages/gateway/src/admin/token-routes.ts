import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reply, Route, RouteRequest } from '@penstock/http'
import { MAX_ANSWER_BYTES } from '@penstock/json'
import { z } from 'zod'
import { ApiError } from '../operations/api-error.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { OperationName } from '../operations/roles.ts'
import {
  createTokenInput,
  importTokenInput,
  listTokensInput,
  MAX_PAGE,
  rotateTokenInput,
  updateTokenInput,
  verifyTokenInput,
} from '../tokens/token-input.ts'
import type { TokenJson } from '../tokens/token-json.ts'
import {
  createToken,
  getToken,
  importToken,
  listTokens,
  revokeToken,
  rotateToken,
  type TokenPage,
  tokenETag,
  updateToken,
  verifyToken,
} from '../tokens/token-operations.ts'
import { changeRefusals, errorResponses } from './error-answers.ts'
import { createOnce, idempotencyHeaders } from './idempotency.ts'
import type { ManagementContext } from './management-context.ts'
import { nextLink, nextPageHeaders } from './next-link.ts'
import { alreadyCreatedToken, createdToken, listedToken, rotatedToken, tokenCheck } from './token-responses.ts'

const PATH = '/api/v1/ingest_auth/tokens'
const tag = 'tokens'
const params = z.object({ id: z.string().meta({ description: 'The public id of the token' }) })
const ifMatch = z.object({
  'If-Match': z.string().optional().meta({ description: 'ETag of the version that was read' }),
})
const creationHeaders = { Location: 'Path of the new token', ETag: 'Its version' }
const replayed = {
  description: 'Created by an earlier request with the same Idempotency-Key',
  body: alreadyCreatedToken,
}
const badInput = ['invalid_field', 'unknown_field'] as const
const badBody = ['invalid_json', ...badInput, 'body_too_large', 'unsupported_media_type'] as const

/** The routes of ingest tokens. */
export const tokenRoutes: readonly Route<ManagementContext, OperationName>[] = [
  {
    method: 'POST',
    path: PATH,
    access: 'createToken',
    headers: idempotencyHeaders,
    body: createTokenInput,
    documentation: {
      operationId: 'createToken',
      tag,
      summary: 'Create an ingest token',
      description: 'Only this answer contains the token itself.',
      responses: {
        200: replayed,
        201: { description: 'Created', body: createdToken, headers: creationHeaders },
        ...errorResponses(...badBody, ...changeRefusals, 'token_limit_reached', 'name_in_use'),
      },
    },
    handle(request, context) {
      return replyCreatedOnce(request, context, (inside) => createToken(inside, request.body))
    },
  },
  {
    method: 'POST',
    path: `${PATH}/verify`,
    access: 'verifyToken',
    body: verifyTokenInput,
    documentation: {
      operationId: 'verifyToken',
      tag,
      summary: 'Check whether a token would be accepted, and why not',
      responses: {
        200: { description: 'The verdict', body: tokenCheck },
        ...errorResponses(...badBody, ...changeRefusals),
      },
    },
    async handle({ body }, context) {
      return { status: 200, json: await verifyToken(context, body) }
    },
  },
  {
    method: 'POST',
    path: `${PATH}/import`,
    access: 'importToken',
    headers: idempotencyHeaders,
    body: importTokenInput,
    documentation: {
      operationId: 'importToken',
      tag,
      summary: 'Import a token of another system, so that it is valid here too',
      responses: {
        200: replayed,
        201: { description: 'Imported', body: listedToken, headers: creationHeaders },
        ...errorResponses(...badBody, ...changeRefusals, 'token_limit_reached', 'name_in_use'),
      },
    },
    handle(request, context) {
      return replyCreatedOnce(request, context, (inside) => importToken(inside, request.body))
    },
  },
  {
    method: 'GET',
    path: PATH,
    access: 'listTokens',
    query: listTokensInput,
    documentation: {
      operationId: 'listTokens',
      tag,
      summary: 'List ingest tokens, newest first',
      description: 'Returns the whole list unless `limit` is set, and revoked tokens only if `status` selects them.',
      responses: {
        200: {
          description: 'The tokens, without their secret values',
          body: z.array(listedToken),
          headers: { ...nextPageHeaders, 'X-Total-Count': 'Tokens on all pages' },
        },
        ...errorResponses(...badInput, 'invalid_cursor', 'answer_too_large'),
      },
    },
    async handle(request, context) {
      const { tokens, nextCursor, totalCount } = await (request.query.limit === undefined
        ? wholeList(context, request.query)
        : listTokens(context, request.query))
      return {
        status: 200,
        headers: { 'X-Total-Count': String(totalCount), ...nextLink(request, nextCursor) },
        json: tokens,
      }
    },
  },
  {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'getToken',
    params,
    documentation: {
      operationId: 'getToken',
      tag,
      summary: 'Get an ingest token',
      responses: {
        200: {
          description: 'The token, without its secret value',
          body: listedToken,
          headers: { ETag: 'Its version' },
        },
        ...errorResponses('token_not_found'),
      },
    },
    async handle(request, context) {
      return withETag(200, await getToken(context, { id: idOf(request) }))
    },
  },
  {
    method: 'PATCH',
    path: `${PATH}/:id`,
    access: 'updateToken',
    params,
    headers: ifMatch,
    body: updateTokenInput,
    documentation: {
      operationId: 'updateToken',
      tag,
      summary: 'Change what a token may do, or disable it',
      responses: {
        200: { description: 'The token after the change', body: listedToken, headers: { ETag: 'Its version' } },
        ...errorResponses(
          ...badBody,
          ...changeRefusals,
          'token_not_found',
          'last_valid_token',
          'name_in_use',
          'precondition_failed',
        ),
      },
    },
    async handle(request, context) {
      const input = { id: idOf(request), body: request.body, ifMatch: request.raw.headers['if-match'] }
      return withETag(200, await updateToken(context, input))
    },
  },
  {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'revokeToken',
    params,
    documentation: {
      operationId: 'revokeToken',
      tag,
      summary: 'Revoke a token',
      description: 'Refused for the last valid token while enforcement is enabled.',
      responses: {
        204: { description: 'Revoked' },
        ...errorResponses(...changeRefusals, 'token_not_found', 'last_valid_token'),
      },
    },
    async handle(request, context) {
      await revokeToken(context, { id: idOf(request) })
      return { status: 204 }
    },
  },
  {
    method: 'POST',
    path: `${PATH}/:id/rotate`,
    access: 'rotateToken',
    params,
    headers: idempotencyHeaders,
    body: rotateTokenInput.optional(),
    documentation: {
      operationId: 'rotateToken',
      tag,
      summary: 'Create a replacement for a token, and let the old one expire',
      responses: {
        200: replayed,
        201: { description: 'Created', body: rotatedToken, headers: creationHeaders },
        ...errorResponses(...badBody, ...changeRefusals, 'token_not_found', 'token_limit_reached'),
      },
    },
    handle(request, context) {
      const input = { id: idOf(request), body: request.body ?? {} }
      return replyCreatedOnce(request, context, (inside) => rotateToken(inside, input))
    },
  },
]

/**
 * Reads a list without `limit` in pages, so that a long one does not block the event loop. It ends after more tokens than an answer
 * may have, because the answer is refused then.
 */
async function wholeList(context: ManagementContext, query: RouteRequest['query']): Promise<TokenPage> {
  const limit = String(MAX_PAGE)
  let page = await listTokens(context, { ...query, limit })
  const { totalCount } = page
  const tokens = [...page.tokens]
  let characters = JSON.stringify(page.tokens).length
  while (page.nextCursor !== undefined && characters <= MAX_ANSWER_BYTES) {
    await nextTurn()
    page = await listTokens(context, { ...query, limit, cursor: page.nextCursor })
    tokens.push(...page.tokens)
    characters += JSON.stringify(page.tokens).length
  }
  return { tokens, nextCursor: undefined, totalCount }
}

const idOf = ({ params }: RouteRequest): string => params.id!

const withETag = (status: number, token: TokenJson): Reply => ({
  status,
  headers: { ETag: tokenETag(token) },
  json: token,
})

/** Replies with a new token, or with the one that an earlier request with the same `Idempotency-Key` created. */
async function replyCreatedOnce(
  request: RouteRequest,
  context: ManagementContext,
  create: (inside: OperationContext) => Promise<TokenJson>,
): Promise<Reply> {
  const outcome = await createOnce(context, request, create)
  return 'created' in outcome ? createdReply(outcome.created) : await replay(context, outcome.alreadyId)
}

function createdReply(token: TokenJson): Reply {
  return { status: 201, headers: { Location: `${PATH}/${token.id}`, ETag: tokenETag(token) }, json: token }
}

async function replay(context: ManagementContext, id: string): Promise<Reply> {
  return { status: 200, json: { ...(await tokenUnlessRevoked(context, id)), id, code: 'already_created' } }
}

async function tokenUnlessRevoked(context: ManagementContext, id: string): Promise<TokenJson | undefined> {
  try {
    return await getToken(context, { id })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'token_not_found') return undefined
    throw error
  }
}
