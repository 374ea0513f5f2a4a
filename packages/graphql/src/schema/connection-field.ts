import type { Listed } from '@penstock/core'
import type { FieldRef, InputFieldMap, InputShapeFromFields } from '@pothos/core'
import type { RequestContext } from '../request/request-context.ts'
import { Connection, type PagingArguments } from './connection.ts'
import type { NodeName, Sources, SumOf } from './connections.ts'
import { type Cost, withCost } from './cost.ts'
import type { Kit } from './kit.ts'
import type { AnyFieldsOf, ArgumentsMaker, FieldsOf, Types } from './schema-types.ts'

const forwardArguments = (t: ArgumentsMaker) => ({ after: t.arg.string(), first: t.arg.int() })
const pagingArguments = (t: ArgumentsMaker) => ({
  ...forwardArguments(t),
  before: t.arg.string(),
  last: t.arg.int(),
})

interface ConnectionFieldOptions<Parent, Name extends NodeName, Args extends InputFieldMap> {
  readonly description?: string
  /** The cost of the field without the fields below it. Default: 1. */
  readonly cost?: Cost
  readonly args?: Args
  /** Default 100. */
  readonly maxPageSize?: number
  readonly nullable?: boolean
  /** Set if the list has no `last` and `before`. */
  readonly isForwardOnly?: boolean
  /** Returns the list, or null if the caller may not read it. */
  list(
    parent: Parent,
    args: InputShapeFromFields<Args>,
    context: RequestContext,
  ): Promise<Listed<Sources[Name], SumOf<Name>> | null | undefined> | null | undefined
}

/** Defines a field of an object, an interface or `Query` that is a list with pages. */
export function connectionField<Parent, Name extends NodeName, Args extends InputFieldMap>(
  { connections }: Kit,
  fields: AnyFieldsOf<Parent>,
  node: Name,
  {
    description,
    cost,
    args,
    maxPageSize,
    nullable = true,
    isForwardOnly,
    list,
  }: ConnectionFieldOptions<Parent, Name, Args>,
): FieldRef<Types, unknown> {
  const t = fields as FieldsOf<Parent>
  // Pothos cannot compute the type of arguments that depend on a type parameter.
  return t.field({
    type: connections.of(node),
    ...(description !== undefined && { description }),
    ...(cost && withCost(cost)),
    nullable,
    args: { ...(isForwardOnly ? forwardArguments(t) : pagingArguments(t)), ...args },
    resolve: async (parent: Parent, args: PagingArguments, context: RequestContext) => {
      const { after, before, first, last, ...others } = args
      const listed = await list(parent, others as InputShapeFromFields<Args>, context)
      if (listed == null) return null
      return new Connection(listed, { after, before, first, last }, context.loaders, maxPageSize)
    },
  } as never)
}
