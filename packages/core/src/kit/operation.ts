import type { z } from 'zod'
import { can, canSee } from '../access/can.ts'
import type { Permission } from '../access/permission-table.ts'
import type { Subject } from '../access/subject.ts'
import { requirePermission, standingsOf } from '../access/subject.ts'
import type { OperationContext, ReadContext, Tx } from './context.ts'

/** Asked before anything of the input is looked at. */
export type Caller = 'anyone' | 'signed_in' | 'administrator'

export type InputSchema = z.ZodType<object>

/**
 * One thing that can be done, whoever asks: the REST adapter, the GraphQL adapter, the command line. Run only by `perform`.
 *
 * `query` reads, `command` runs in one transaction, `steps` does slow things (files, password hashes) and opens its own
 * transactions with `context.write`.
 */
export interface Operation<Input extends InputSchema = InputSchema, Result = unknown> {
  readonly name: string
  readonly caller: Caller
  /** The only validator for this input. Its keys are the parameters' names, in camelCase, in the order of complaints. */
  readonly input: Input
  readonly work: Work<z.output<Input>, Result>
}

export type Work<Input, Result> =
  | { readonly kind: 'query'; run(context: OperationContext & ReadContext, input: Input): Promise<Result> }
  | { readonly kind: 'command'; run(context: OperationContext & Tx, input: Input): Promise<Result> }
  | { readonly kind: 'steps'; run(context: StepsContext, input: Input): Promise<Result> }

export interface StepsContext extends OperationContext, ReadContext {
  /** A transaction of its own, with the instant at which it began. */
  write<Result>(work: (tx: OperationContext & Tx) => Promise<Result>): Promise<Result>
}

interface OperationHead<Input extends InputSchema> {
  readonly name: string
  /** Default: `signed_in`. */
  readonly caller?: Caller
  readonly input: Input
}

/**
 * What the operation is about and what the actor must be allowed to do with it. One who may not see it is told that there
 * is no such thing, one who may see it that it is forbidden.
 */
interface SubjectRule<Input extends InputSchema, S extends Subject> {
  /** Finds it, or throws `not_found`; whether the actor may see it is not its business. */
  readonly subject: (context: ReadContext, input: z.output<Input>) => Promise<S>
  readonly permission: Permission
}

type WithSubject<Context, S> = Context & { readonly subject: S }

export function query<Input extends InputSchema, S extends Subject, Result>(
  head: OperationHead<Input> & SubjectRule<Input, S>,
  run: (context: WithSubject<OperationContext & ReadContext, S>, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return {
    ...headOf(head),
    work: {
      kind: 'query',
      run: async (context, input) => run({ ...context, subject: await authorizedSubject(head, context, input) }, input),
    },
  }
}

export function command<Input extends InputSchema, S extends Subject, Result>(
  head: OperationHead<Input> & SubjectRule<Input, S>,
  run: (context: WithSubject<OperationContext & Tx, S>, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return {
    ...headOf(head),
    work: {
      kind: 'command',
      run: async (context, input) => run({ ...context, subject: await authorizedSubject(head, context, input) }, input),
    },
  }
}

export function steps<Input extends InputSchema, S extends Subject, Result>(
  head: OperationHead<Input> & SubjectRule<Input, S>,
  run: (context: WithSubject<StepsContext, S>, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return {
    ...headOf(head),
    work: {
      kind: 'steps',
      run: async (context, input) => run({ ...context, subject: await authorizedSubject(head, context, input) }, input),
    },
  }
}

/** A read of many things at once, for adapters that have found them already, through what the actor may see. */
export interface BatchQuery<Input extends InputSchema = InputSchema, Parent = unknown, Result = unknown> {
  readonly name: string
  readonly input: Input
  /** One result for each, in their order. */
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

/** Of groups or projects: `run` is given those with which the actor may do it, and the others have no result. */
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

/** Of what is shown to whoever sees the things it is asked of, or `run` itself asks who may. */
export function unscopedBatchQuery<Input extends InputSchema, Parent, Result>(
  head: BatchHead<Input>,
  run: BatchQuery<Input, Parent, Result>['run'],
): BatchQuery<Input, Parent, Result> {
  return { ...head, run }
}

/** For what is about no group or project: `run` itself asks who may. */
export function unscopedQuery<Input extends InputSchema, Result>(
  head: OperationHead<Input>,
  run: (context: OperationContext & ReadContext, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return { ...headOf(head), work: { kind: 'query', run } }
}

export function unscopedCommand<Input extends InputSchema, Result>(
  head: OperationHead<Input>,
  run: (context: OperationContext & Tx, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return { ...headOf(head), work: { kind: 'command', run } }
}

export function unscopedSteps<Input extends InputSchema, Result>(
  head: OperationHead<Input>,
  run: (context: StepsContext, input: z.output<Input>) => Promise<Result>,
): Operation<Input, Result> {
  return { ...headOf(head), work: { kind: 'steps', run } }
}

const headOf = <Input extends InputSchema>({ name, caller = 'signed_in', input }: OperationHead<Input>) => ({
  name,
  caller,
  input,
})

async function authorizedSubject<Input extends InputSchema, S extends Subject>(
  { subject: find, permission }: SubjectRule<Input, S>,
  context: OperationContext & ReadContext,
  input: z.output<Input>,
): Promise<S> {
  const subject = await find(context, input)
  await requirePermission(context, subject, permission)
  return subject
}
