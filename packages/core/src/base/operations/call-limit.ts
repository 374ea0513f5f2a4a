import { createHash } from 'node:crypto'
import { type Clock, subscriberOf } from '@penstock/runtime'
import type { Subject } from '../access/subject.ts'
import { DomainError } from '../kit/domain-error.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Core, OperationContext } from './context.ts'
import { type Counted, WindowCounter, windowAt } from './window-counter.ts'

/**
 * A limit on how often callers may run an operation. Calls by REST and by GraphQL count together; each mutation of a GraphQL
 * document is one call. Calls of the command line, which have no address, are not counted.
 */
export interface CallLimit<Input = never> {
  /** Limits with the same name share their counts, and must have the same period. */
  readonly name: string
  /** The parts of the key: calls with different keys are counted separately. */
  readonly per: readonly CallKey<Input>[]
  readonly periodSeconds: number
  /** The number of calls in a period; 0 for no limit. A function reads it from settings. */
  readonly count: number | ((context: OperationContext & ReadContext) => Promise<number> | number)
  /**
   * Set if the operation, which consists of `steps`, calls `countCall` itself: after it has found something, for example.
   * Otherwise the call is counted before the operation begins.
   */
  readonly isCountedInside?: true
}

/**
 * One part of the key of a count: the user (the address of callers without a sign-in), the address, the group or project
 * of the operation, or a text from the input.
 */
type CallKey<Input = never> = 'user' | 'address' | 'subject' | InputKey<Input>

interface InputKey<Input> {
  of(input: Input): string
}

/** The maximum length of keys that are stored as they are. Longer keys are stored as a hash. */
const MAX_KEY_CHARACTERS = 200

/** Counts calls. There is one for each database that a process has open. */
class CallCounts {
  readonly #clock: Clock
  readonly #shared: ReturnType<NonNullable<Core['db']['counterIn']>> | undefined
  readonly #inMemory = new Map<string, WindowCounter>()

  constructor({ db, clock }: Core) {
    this.#clock = clock
    this.#shared = db.counterIn?.('call_counts')
  }

  /** Counts one call, and returns the calls in this period. */
  async count(
    { name, periodSeconds }: Pick<CallLimit, 'name' | 'periodSeconds'>,
    key: string,
  ): Promise<Pick<Counted, 'observed' | 'secondsLeft'>> {
    if (this.#shared === undefined) {
      const counter = this.#inMemory.get(name) ?? new WindowCounter(periodSeconds, this.#clock)
      this.#inMemory.set(name, counter)
      return counter.count(key)
    }
    const { window, secondsLeft } = windowAt(periodSeconds, this.#clock.nowMs())
    return { observed: await this.#shared.count(`${window}:${key}`, periodSeconds), secondsLeft }
  }
}

const countsOf = new WeakMap<Core['db'], CallCounts>()

function callCountsOf(core: Core): CallCounts {
  const counts = countsOf.get(core.db) ?? new CallCounts(core)
  countsOf.set(core.db, counts)
  return counts
}

interface LimitedCall<Input> {
  readonly context: OperationContext & ReadContext
  readonly input: Input
  /** Returns the group or project of the operation, after the check of the permission. */
  readonly authorize: (() => Promise<{ readonly subject: Subject }>) | undefined
}

/**
 * Counts a call for each of the limits.
 *
 * @throws DomainError `too_often` above a limit, and what `authorize` throws
 */
export async function countCall<Input>(
  limits: readonly CallLimit<Input>[],
  { context, input, authorize }: LimitedCall<Input>,
): Promise<void> {
  if (context.request.address === undefined) return
  for (const limit of limits) {
    const { name, per, count } = limit
    const most = typeof count === 'number' ? count : await count(context)
    if (most === 0) continue
    const key = [name]
    for (const part of per) key.push(await keyPart(part, { context, input, authorize }))
    const { observed, secondsLeft } = await callCountsOf(context.core).count(limit, boundedKey(key))
    if (observed > most) throw new DomainError({ code: 'too_often', retryAfterSeconds: secondsLeft })
  }
}

async function keyPart<Input>(
  part: CallKey<Input>,
  { context: { actor, request }, input, authorize }: LimitedCall<Input>,
): Promise<string> {
  if (typeof part !== 'string') return part.of(input)
  if (part === 'subject') {
    if (authorize === undefined) throw new Error('Only operations with a subject count calls per subject')
    const { kind, id } = (await authorize()).subject
    return `${kind} ${id}`
  }
  if (part === 'user' && actor !== undefined) return `user ${actor.id}`
  return subscriberOf(request.address!)
}

function boundedKey(parts: readonly string[]): string {
  const key = JSON.stringify(parts)
  return key.length <= MAX_KEY_CHARACTERS ? key : createHash('sha256').update(key).digest('base64url')
}
