import type { z } from 'zod'
import type { Actor, Core, OperationContext, Tx } from './context.ts'
import { DomainError, forbidden } from './domain-error.ts'
import { type DomainEvent, insertEvent } from './event.ts'
import type { Caller, InputSchema, Operation } from './operation.ts'
import { parseInput } from './parse-input.ts'

/**
 * The only way to run an operation: who asks, then the input, then (inside) what it is about and the permission, then the
 * work, in one transaction where it writes.
 *
 * @throws DomainError
 */
export async function perform<Input extends InputSchema, Result>(
  core: Core,
  actor: Actor,
  operation: Operation<Input, Result>,
  input: unknown,
): Promise<Result> {
  requireCaller(actor, operation.caller)
  const parsed: z.output<Input> = parseInput(operation.input, input)
  const context: OperationContext = { actor, core }
  const reading = () => ({ ...context, db: core.db.read, nowMs: core.clock.nowMs() })
  const { work } = operation
  switch (work.kind) {
    case 'query':
      return work.run(reading(), parsed)
    case 'command':
      return write(context, (tx) => work.run(tx, parsed))
    case 'steps':
      return work.run({ ...reading(), write: (inside) => write(context, inside) }, parsed)
  }
}

/** Also for adapters: whoever lacks it is told so before a wrong parameter is. */
export function requireCaller(actor: Actor, caller: Caller): void {
  if (caller === 'anyone') return
  if (actor === undefined) throw new DomainError({ code: 'unauthenticated' })
  if (caller === 'administrator' && !actor.isAdministrator) throw forbidden()
}

function write<Result>(
  context: OperationContext,
  work: (tx: OperationContext & Tx) => Promise<Result>,
): Promise<Result> {
  const { core, actor } = context
  return core.db.write((db) => {
    // Read in the transaction: of two that follow each other, the later has the later time.
    const nowMs = core.clock.nowMs()
    const recordEvent = (event: DomainEvent) => insertEvent({ db, nowMs }, { actorId: actor?.id, ...event })
    return work({ ...context, db, nowMs, recordEvent })
  })
}
