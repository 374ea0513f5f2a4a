import type { Reply, Route } from '@penstock/http'
import { z } from 'zod'
import {
  type ApiKeyJson,
  type CreatedApiKeyJson,
  createApiKey,
  createApiKeyInput,
  listApiKeys,
  revokeApiKey,
} from '../accounts/api-key-operations.ts'
import type { OperationName } from '../operations/roles.ts'
import { changeRefusals, errorResponses } from './error-answers.ts'
import { createOnce, idempotencyHeaders } from './idempotency.ts'
import type { ManagementContext } from './management-context.ts'
import { instantText } from './token-responses.ts'

const PATH = '/api/v1/api_keys'
const tag = 'api_keys'

const apiKeyFields = {
  id: z.string(),
  name: z.string(),
  role: z.enum(['Viewer', 'Editor', 'Admin']),
  created_at: instantText,
  created_by: z.string().nullable().meta({ description: 'Id of the key that created it; null: the first start did' }),
  expires_at: instantText.nullable(),
  last_used_at: instantText.nullable(),
}
const apiKey = z.strictObject(apiKeyFields).meta({ id: 'ApiKey' }) satisfies z.ZodType<ApiKeyJson>
const createdApiKey = z
  .strictObject({ ...apiKeyFields, key: z.string().meta({ description: 'The key itself, in this answer only' }) })
  .meta({ id: 'CreatedApiKey' }) satisfies z.ZodType<CreatedApiKeyJson>
const alreadyCreatedApiKey = z
  .strictObject({ ...apiKeyFields, code: z.literal('already_created') })
  .partial()
  .required({ id: true, code: true })
  .meta({ id: 'AlreadyCreatedApiKey' })

/** The routes for API keys, for Admins only. A user of the gateway is a key with a name and a role. */
export const apiKeyRoutes: readonly Route<ManagementContext, OperationName>[] = [
  {
    method: 'POST',
    path: PATH,
    access: 'createApiKey',
    headers: idempotencyHeaders,
    body: createApiKeyInput,
    documentation: {
      operationId: 'createApiKey',
      tag,
      summary: 'Create a key for this API',
      description: 'Only this answer contains the key itself.',
      responses: {
        200: { description: 'Created by an earlier request with the same Idempotency-Key', body: alreadyCreatedApiKey },
        201: { description: 'Created', body: createdApiKey },
        ...errorResponses(
          'invalid_json',
          'invalid_field',
          'unknown_field',
          ...changeRefusals,
          'api_key_limit_reached',
          'body_too_large',
          'unsupported_media_type',
        ),
      },
    },
    async handle(request, context) {
      const outcome = await createOnce(context, request, (inside) => createApiKey(inside, request.body))
      if ('created' in outcome) return { status: 201, json: outcome.created }
      return await replay(context, outcome.alreadyId)
    },
  },
  {
    method: 'GET',
    path: PATH,
    access: 'listApiKeys',
    documentation: {
      operationId: 'listApiKeys',
      tag,
      summary: 'List the keys of this API, newest first',
      responses: {
        200: { description: 'The keys, without their secret values', body: z.array(apiKey) },
        ...errorResponses('forbidden'),
      },
    },
    async handle(_request, context) {
      return { status: 200, json: await listApiKeys(context) }
    },
  },
  {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'revokeApiKey',
    params: z.object({ id: z.string() }),
    documentation: {
      operationId: 'revokeApiKey',
      tag,
      summary: 'Revoke a key',
      description: 'Refused for the last Admin key.',
      responses: {
        204: { description: 'Revoked' },
        ...errorResponses(...changeRefusals, 'api_key_not_found', 'last_admin_key'),
      },
    },
    async handle({ params }, context) {
      await revokeApiKey(context, { id: params.id! })
      return { status: 204 }
    },
  },
]

async function replay(context: ManagementContext, id: string): Promise<Reply> {
  const key = (await listApiKeys(context)).find((candidate) => candidate.id === id)
  return { status: 200, json: { ...key, id, code: 'already_created' } }
}
