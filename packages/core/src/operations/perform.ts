import { isUnavailable } from '@penstock/db'
import type { z } from 'zod'
import { DomainError, forbidden } from '../kit/domain-error.ts'
import { parseInput } from '../kit/parse-input.ts'
import type { Actor } from '../model/user.ts'
import type { Core, OperationContext, Tx } from './context.ts'
import { type DomainEvent, insertEvent } from './event.ts'
import type { BatchQuery, Caller, InputSchema, Operation } from './operation.ts'
import type { Reads } from './watched-reads.ts'

/** The queue of writers, a frequent reason, is usually empty by then. */
const RETRY_AFTER_SECONDS = 5

/** The validated input of an operation, for adapters that validate large inputs in a worker thread. */
export class ValidatedInput<Input extends InputSchema> {
  readonly schema: Input
  readonly value: z.output<Input>

  /** @param value the result of `parseInput` for `schema` */
  constructor(schema: Input, value: z.output<Input>) {
    this.schema = schema
    this.value = value
  }
}

/**
 * Runs an operation. Every operation is run by this function: it authenticates the caller, validates the input, then,
 * inside the operation's transaction, finds the subject, checks the permission and does the work.
 *
 * @param input the input that the operation's schema takes, or a `ValidatedInput` of that schema
 * @param reads the source of reads outside of transactions
 * @throws DomainError
 */
export async function perform<Input extends InputSchema, Result>(
  core: Core,
  actor: Actor,
  operation: Operation<Input, Result>,
  input: unknown,
  reads: Reads = core.db.read,
): Promise<Result> {
  requireCaller(actor, operation.caller)
  const isValidated = input instanceof ValidatedInput && input.schema === operation.input
  const parsed: z.output<Input> = isValidated ? input.value : parseInput(operation.input, input)
  const context: OperationContext = { actor, core }
  const readContext = () => ({ ...context, db: reads, nowMs: core.clock.nowMs() })
  const { work } = operation
  try {
    switch (work.kind) {
      case 'query':
        return await work.run(readContext(), parsed)
      case 'command':
        return await write(context, (tx) => work.run(tx, parsed))
      case 'steps':
        return await work.run({ ...readContext(), write: (inside) => write(context, inside) }, parsed)
    }
  } catch (error) {
    throw asFailure(error)
  }
}

/**
 * Runs a batch query for the parents.
 *
 * @throws DomainError
 */
export async function performBatch<Input extends InputSchema, Parent, Result>(
  core: Core,
  actor: Actor,
  { input: schema, run }: BatchQuery<Input, Parent, Result>,
  parents: readonly Parent[],
  input: unknown,
  reads: Reads = core.db.read,
): Promise<readonly Result[]> {
  const parsed = parseInput(schema, input)
  try {
    return await run({ actor, core, db: reads, nowMs: core.clock.nowMs() }, parents, parsed)
  } catch (error) {
    throw asFailure(error)
  }
}

/** Converts a database error to `unavailable` if that is the reason. Adapters use it for reads outside of operations. */
export function asFailure(error: unknown): unknown {
  if (!isUnavailable(error)) return error
  return new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause: error })
}

/** Rejects callers that lack a sign-in or administrator rights. Adapters call it before they parse parameters. */
export function requireCaller(actor: Actor, caller: Caller): void {
  if (caller === 'anyone') return
  if (actor === undefined) throw new DomainError({ code: 'unauthenticated' })
  if (caller === 'administrator' && !actor.isAdministrator) throw forbidden()
}

async function insertAndPublish(tx: OperationContext & Tx, event: DomainEvent): Promise<void> {
  await insertEvent(tx, event)
  for (const listener of tx.core.listeners ?? []) if (listener.types.has(event.type)) await listener.onEvent(tx, event)
}

async function write<Result>(
  context: OperationContext,
  work: (tx: OperationContext & Tx) => Promise<Result>,
): Promise<Result> {
  const { core, actor } = context
  const afterwards: ((core: Core) => Promise<void>)[] = []
  const result = await core.db.write((db) => {
    // The clock is read inside the transaction, so that later transactions have later times.
    const nowMs = core.clock.nowMs()
    const tx: OperationContext & Tx = {
      ...context,
      db,
      nowMs,
      recordEvent: (event) => insertAndPublish(tx, { actorId: actor?.id, ...event }),
      afterCommit: (each) => void afterwards.push(each),
    }
    return work(tx)
  })
  // The sweep repeats work that fails here, and logs it if it fails again.
  await Promise.allSettled(afterwards.map((each) => each(core)))
  return result
}
