import type { z } from 'zod'
import { can, canSee, type Standing } from '../access/can.ts'
import type { Permission } from '../access/permission-table.ts'
import type { Subject } from '../access/subject.ts'
import { requirePermission, standingsOf } from '../access/subject.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { CallLimit } from './call-limit.ts'
import type { CallContext, OperationContext, Tx } from './context.ts'

/** Who may call an operation; checked before the input. */
export type Caller = 'anyone' | 'signed_in' | 'administrator'

export type InputSchema = z.ZodType<object>

/**
 * One thing that can be done through the REST adapter, the GraphQL adapter or the command line. Run only by `perform`.
 *
 * A `query` reads, a `command` runs in one transaction, `steps` do slow work (files, password hashes) and open their own
 * transactions with `context.write`.
 */
export interface Operation<Input extends InputSchema = InputSchema, Result = unknown> {
  readonly name: string
  readonly caller: Caller
  /**
   * The only validator of the input. Keys are parameter names, in camelCase, in the order in which problems are reported.
   */
  readonly input: Input
  /** Whether the caller may set a time after which the object must not have changed (`If-Unmodified-Since`). */
  readonly isConditional: boolean
  readonly limits: readonly CallLimit<z.output<Input>>[]
  /**
   * Returns the group or project of the operation. Missing if the operation has none.
   * @throws DomainError if the actor lacks the permission
   */
  authorize?(context: CallContext & ReadContext, input: z.output<Input>): Promise<Authorized<Subject>>
  readonly work: Work<z.output<Input>, Result>
}

export type Work<Input, Result> =
  | { readonly kind: 'query'; run(context: CallContext & ReadContext, input: Input): Promise<Result> }
  | { readonly kind: 'command'; run(context: CallContext & Tx, input: Input): Promise<Result> }
  | { readonly kind: 'steps'; run(context: StepsContext, input: Input): Promise<Result> }

export interface StepsContext extends CallContext, ReadContext {
  /** Runs `work` in its own transaction, with the time at which the transaction began. */
  write<Result>(work: (tx: CallContext & Tx) => Promise<Result>): Promise<Result>
  /** Counts the call for the limits with `isCountedInside`. @throws DomainError `too_often` */
  countCall(): Promise<void>
}

interface OperationHead<Input extends InputSchema> {
  readonly name: string
  /** Default: `signed_in`. */
  readonly caller?: Caller
  readonly input: Input
  /** Set if `run` calls `requireUnmodified`. */
  readonly isConditional?: boolean
  /** How often callers may run the operation. */
  readonly limits?: readonly CallLimit<z.output<Input>>[]
}

/**
 * The subject of an operation, and the permission that the actor needs on it. The operation fails with `not_found` if the
 * actor may not see the subject, and with `forbidden` if the actor lacks the permission.
 */
interface SubjectRule<Input extends InputSchema, S extends Subject> {
  /** Returns the subject or throws `not_found`; does not check whether the actor may see it. */
  readonly subject: (context: ReadContext, input: z.output<Input>) => Promise<S>
  readonly permission: Permission
}

/** The subject of an operation, after the check of the permission. */
export interface Authorized<S> {
  readonly subject: S
  /** The actor's standing in the subject when the operation began. */
  readonly standing: Standing
}

type WithSubject<Context, S> = Context & Authorized<S>

export function query<Input extends InputSchema, S extends Subject, Result>(
  head: OperationHead<Input> & SubjectRule<Input, S>,
  run: (context: WithSubject<CallContext & ReadContext, S>, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  const authorize = authorizing(head)
  return {
    ...headOf(head),
    authorize,
    work: {
      kind: 'query',
      run: async (context, input) => run({ ...context, ...(await authorize(context, input)) }, input),
    },
  }
}

export function command<Input extends InputSchema, S extends Subject, Result>(
  head: OperationHead<Input> & SubjectRule<Input, S>,
  run: (context: WithSubject<CallContext & Tx, S>, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  const authorize = authorizing(head)
  return {
    ...headOf(head),
    authorize,
    work: {
      kind: 'command',
      run: async (context, input) => run({ ...context, ...(await authorize(context, input)) }, input),
    },
  }
}

export function steps<Input extends InputSchema, S extends Subject, Result>(
  head: OperationHead<Input> & SubjectRule<Input, S>,
  run: (context: WithSubject<StepsContext, S>, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  const authorize = authorizing(head)
  return {
    ...headOf(head),
    authorize,
    work: {
      kind: 'steps',
      run: async (context, input) => run({ ...context, ...(await authorize(context, input)) }, input),
    },
  }
}

/**
 * A query for many parents at once. It is for adapters that have already found the parents, and have left out those
 * that the actor may not see.
 */
export interface BatchQuery<Input extends InputSchema = InputSchema, Parent = unknown, Result = unknown> {
  readonly name: string
  readonly input: Input
  /** Returns one result for each parent, in the order of the parents. */
  readonly run: (
    context: OperationContext & ReadContext,
    parents: readonly Parent[],
    input: z.output<Input>,
  ) => Promise<readonly Result[]>
}

interface BatchHead<Input extends InputSchema> {
  readonly name: string
  readonly input: Input
}

/**
 * Defines a batch query on groups or projects. `run` gets those on which the actor has the permission; the result of all
 * others is `undefined`.
 */
export function batchQuery<Input extends InputSchema, S extends Subject, Result>(
  { permission, ...head }: BatchHead<Input> & { readonly permission: Permission },
  run: (
    context: OperationContext & ReadContext,
    subjects: readonly S[],
    input: z.output<Input>,
  ) => Promise<readonly Result[]>,
): BatchQuery<Input, S, Result | undefined> {
  return {
    ...head,
    async run(context, subjects, input) {
      const standings = await standingsOf(context, context.actor, subjects)
      const allowed = subjects.filter((_, index) => canSee(standings[index]!) && can(standings[index]!, permission))
      const results = allowed.length === 0 ? [] : await run(context, allowed, input)
      const resultOf = new Map(allowed.map((subject, index) => [subject, results[index]]))
      return subjects.map((subject) => resultOf.get(subject))
    },
  }
}

/**
 * Defines a batch query without a permission: everyone who sees the parents may read the result, or `run` checks permissions
 * itself.
 */
export function unscopedBatchQuery<Input extends InputSchema, Parent, Result>(
  head: BatchHead<Input>,
  run: BatchQuery<Input, Parent, Result>['run'],
): BatchQuery<Input, Parent, Result> {
  return { ...head, run }
}

/** Defines a query that is not about a single group or project; `run` checks permissions itself. */
export function unscopedQuery<Input extends InputSchema, Result>(
  head: OperationHead<Input>,
  run: (context: CallContext & ReadContext, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return { ...headOf(head), work: { kind: 'query', run } }
}

export function unscopedCommand<Input extends InputSchema, Result>(
  head: OperationHead<Input>,
  run: (context: CallContext & Tx, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return { ...headOf(head), work: { kind: 'command', run } }
}

export function unscopedSteps<Input extends InputSchema, Result>(
  head: OperationHead<Input>,
  run: (context: StepsContext, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return { ...headOf(head), work: { kind: 'steps', run } }
}

const headOf = <Input extends InputSchema>({
  name,
  caller = 'signed_in',
  input,
  isConditional = false,
  limits = [],
}: OperationHead<Input>) => ({ name, caller, input, isConditional, limits })

const authorizing =
  <Input extends InputSchema, S extends Subject>({ subject: find, permission }: SubjectRule<Input, S>) =>
  async (context: OperationContext & ReadContext, input: z.output<Input>): Promise<Authorized<S>> => {
    const subject = await find(context, input)
    return { subject, standing: await requirePermission(context, subject, permission) }
  }
