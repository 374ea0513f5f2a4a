import { createHash } from 'node:crypto'
import type { RouteRequest } from '@penstock/http'
import { z } from 'zod'
import type { OperationContext } from '../operations/operation-context.ts'
import { inputError } from '../operations/operation-input.ts'
import { AlreadyCreated } from '../operations/write-once.ts'

/** The header `Idempotency-Key`, for validation and for the OpenAPI document. */
export const idempotencyHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .optional()
    .meta({
      description: 'Chosen by the caller. A repeated key creates nothing again within 24 h, and shows no secret.',
    }),
})

/**
 * Runs `create`, which uses `writeOnce`, unless this caller has created something with the same `Idempotency-Key` in the last
 * 24 h. In that case, returns the id of what was created.
 *
 * @throws ApiError invalid_field
 */
export async function createOnce<Created>(
  context: OperationContext,
  request: RouteRequest,
  create: (context: OperationContext) => Promise<Created>,
): Promise<{ readonly created: Created } | { readonly alreadyId: string }> {
  const key = readKey(request)
  if (key === undefined) return { created: await create(context) }
  // Only a digest of the header is stored, because callers may put confidential values into it.
  const idempotencyKey = createHash('sha256').update(`${request.method} ${request.path}\0${key}`).digest('hex')
  try {
    return { created: await create({ ...context, idempotencyKey }) }
  } catch (error) {
    if (error instanceof AlreadyCreated) return { alreadyId: error.id }
    throw error
  }
}

function readKey({ raw }: RouteRequest): string | undefined {
  const sent = raw.headersDistinct['idempotency-key']
  const checked = idempotencyHeaders.safeParse({ 'Idempotency-Key': sent?.join(', ') })
  if (checked.success && (sent === undefined || sent.length === 1)) return checked.data['Idempotency-Key']
  throw inputError([{ field: 'Idempotency-Key', problem: sent?.length === 1 ? 'malformed' : 'repeated' }])
}
