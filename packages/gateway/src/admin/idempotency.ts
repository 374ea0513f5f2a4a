import { createHash } from 'node:crypto'
import type { RouteRequest } from '@penstock/http'
import { z } from 'zod'
import type { OperationContext } from '../operations/operation-context.ts'
import { inputError } from '../operations/operation-input.ts'
import type { GatewayDb } from '../store/tables.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000

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

/** The table that `create` inserts its row into. */
type CreatedTable = 'ingest_tokens' | 'api_keys'

/** Thrown inside the transaction, so that nothing is created a second time. */
class AlreadyCreated extends Error {
  readonly id: string
  constructor(id: string) {
    super('already created')
    this.id = id
  }
}

/**
 * Runs `create`, unless this caller has created something with the same `Idempotency-Key` in the last 24 h. In that
 * case, returns the id of what was created. The key is stored in the transaction of the creation, so that neither
 * a crash nor concurrent requests can create twice.
 *
 * @throws ApiError invalid_field
 */
export async function createOnce<Created>(
  context: OperationContext,
  request: RouteRequest,
  table: CreatedTable,
  create: (context: OperationContext) => Promise<Created>,
): Promise<{ readonly created: Created } | { readonly alreadyId: string }> {
  const key = idempotencyKey(request)
  if (key === undefined) return { created: await create(context) }
  // Only a digest of the header is stored, because callers may put confidential values into it.
  const digest = createHash('sha256').update(`${request.method} ${request.path}\0${key}`).digest('hex')
  try {
    return { created: await create({ ...context, db: withIdempotencyKey(context, digest, table) }) }
  } catch (error) {
    if (error instanceof AlreadyCreated) return { alreadyId: error.id }
    throw error
  }
}

function idempotencyKey({ raw }: RouteRequest): string | undefined {
  const sent = raw.headersDistinct['idempotency-key']
  const checked = idempotencyHeaders.safeParse({ 'Idempotency-Key': sent?.join(', ') })
  if (checked.success && (sent === undefined || sent.length === 1)) return checked.data['Idempotency-Key']
  throw inputError([{ field: 'Idempotency-Key', problem: sent?.length === 1 ? 'malformed' : 'repeated' }])
}

/** Returns a database that stores the key in the transaction of its first successful write, which is the creation. */
function withIdempotencyKey(context: OperationContext, digest: string, table: CreatedTable): GatewayDb {
  const { db, actor } = context
  const nowMs = context.nowMs()
  let isStored = false
  return {
    read: db.read,
    readWithin: (limit, subscriber) => db.readWithin(limit, subscriber),
    close: () => db.close(),
    write(work) {
      if (isStored) return db.write(work)
      return db.write(async (tx) => {
        const ownKey = tx.selectFrom('idempotency_keys').where('caller_id', '=', actor.id).where('key', '=', digest)
        await tx
          .deleteFrom('idempotency_keys')
          .where('created_at_ms', '<=', nowMs - RETENTION_MS)
          .execute()
        const before = await ownKey.select('token_id').executeTakeFirst()
        if (before) throw new AlreadyCreated(before.token_id)
        const result = await work(tx)
        const { id } = await tx
          .selectFrom(table)
          .select('id')
          .orderBy('position', 'desc')
          .limit(1)
          .executeTakeFirstOrThrow()
        const row = { caller_id: actor.id, key: digest, token_id: id, created_at_ms: nowMs }
        await tx.insertInto('idempotency_keys').values(row).execute()
        isStored = true
        return result
      })
    },
  }
}
