import { isBrokenReference, isUnavailable, type ReadLimit, SearchBudgetError } from '@penstock/db'
import type { z } from 'zod'
import { DomainError, forbidden } from '../kit/domain-error.ts'
import { parseInput } from '../kit/parse-input.ts'
import type { Actor } from '../model/user.ts'
import { isRemovedActor } from './actor-store.ts'
import { countCall } from './call-limit.ts'
import type { CallContext, Core } from './context.ts'
import type { BatchQuery, Caller, InputSchema, Operation } from './operation.ts'
import { noRequest, type RequestFacts, toSubscriber, UnmodifiedCheck } from './request-facts.ts'
import { inTransaction } from './transaction.ts'
import type { Reads } from './watched-reads.ts'

/**
 * The time after which clients should retry an `unavailable` operation. A frequent reason is a full queue of writers,
 * which is usually empty by then.
 */
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

export interface PerformOptions {
  /** The source of reads outside of transactions. Default: the core's. */
  readonly reads?: Reads
  /** Limits the texts that a query reads; replaces `reads`. Commands are not limited. */
  readonly readLimit?: ReadLimit
  /** Set if the operation runs again for the same request. The call limits then do not count it a second time. */
  readonly isRepeated?: boolean
  /** The request that calls the operation. Default: none, as for the command line. */
  readonly request?: RequestFacts
}

/**
 * Runs an operation. Every operation is run by this function: it authenticates the caller, validates the input, counts the
 * call, then, inside the operation's transaction, finds the subject, checks the permission and does the work.
 *
 * @param input the input that the operation's schema takes, or a `ValidatedInput` of that schema
 * @throws DomainError
 */
export async function perform<Input extends InputSchema, Result>(
  ownCore: Core,
  actor: Actor,
  operation: Operation<Input, Result>,
  input: unknown,
  { readLimit, isRepeated = false, request = noRequest, ...options }: PerformOptions = {},
): Promise<Result> {
  const isLimited = readLimit !== undefined && operation.work.kind === 'query'
  const core: Core = isLimited ? { ...ownCore, readLimit } : ownCore
  const reads = isLimited ? core.db.readWithin(readLimit, toSubscriber(request)) : (options.reads ?? core.db.read)
  requireCaller(actor, operation.caller)
  const isValidated = input instanceof ValidatedInput && input.schema === operation.input
  const parsed: z.output<Input> = isValidated ? input.value : parseInput(operation.input, input)
  const unmodified = new UnmodifiedCheck(operation.name, operation.isConditional, request)
  const context: CallContext = { actor, core, request, requireUnmodified: unmodified.require }
  const readContext = () => ({ ...context, db: reads, nowMs: core.clock.nowMs() })
  const { work, limits, authorize } = operation
  const count = async (isInside: boolean) => {
    if (limits.length === 0 || isRepeated) return
    const limited = {
      context: readContext(),
      input: parsed,
      authorize: authorize && (() => authorize(readContext(), parsed)),
    }
    await countCall(
      limits.filter(({ isCountedInside = false }) => isCountedInside === isInside),
      limited,
    )
  }
  try {
    // A count is not part of a transaction, which a later failure would roll back.
    await count(false)
    switch (work.kind) {
      case 'query':
        return await work.run(readContext(), parsed)
      case 'command':
        return await inTransaction(context, async (tx) => {
          const result = await work.run(tx, parsed)
          unmodified.requireDone()
          return result
        })
      case 'steps': {
        const result = await work.run(
          { ...readContext(), write: (inside) => inTransaction(context, inside), countCall: () => count(true) },
          parsed,
        )
        unmodified.requireDone()
        return result
      }
    }
  } catch (error) {
    // The actor is found before the transaction; everything else that a row refers to is found inside it.
    if (isBrokenReference(error) && (await isRemovedActor({ db: core.db.read }, actor))) {
      throw new DomainError(
        { code: 'conflict', reason: 'The user of the request was removed in between' },
        { cause: error },
      )
    }
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
    return await run({ actor, core, request: noRequest, db: reads, nowMs: core.clock.nowMs() }, parents, parsed)
  } catch (error) {
    throw asFailure(error)
  }
}

const SEARCH_TOO_LONG = 'The search takes too long. Search for a longer text, or among fewer items'

/**
 * Converts an unusable database and a full disk to `unavailable`, and a search beyond its budget to `impossible`. Returns other
 * errors as they are. Adapters use it for reads outside of operations.
 */
export function asFailure(error: unknown): unknown {
  if (error instanceof SearchBudgetError) {
    return new DomainError({ code: 'impossible', message: SEARCH_TOO_LONG }, { cause: error })
  }
  if (!(isUnavailable(error) || isDiskFull(error))) return error
  return new DomainError({ code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause: error })
}

/** The codes of the system for a file that cannot be written at present: no space, no quota, too large, a read-only file system. */
const diskErrorCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'])

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'code' in error && diskErrorCodes.has(String(error.code))

/** Rejects callers that lack a sign-in or administrator rights. Adapters call it before they parse parameters. */
export function requireCaller(actor: Actor, caller: Caller): void {
  if (caller === 'anyone') return
  if (actor === undefined) throw new DomainError({ code: 'unauthenticated' })
  if (caller === 'administrator' && !actor.isAdministrator) throw forbidden()
}
