import type { BatchQuery, CoreSettings, InputSchema, Listed } from '@penstock/core'
import type { FieldRef, InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core'
import { GraphQLError } from 'graphql'
import { Connection, MOST_COUNTED, type PageInfo } from './connection.ts'
import { businessFailure, notAvailable } from './failure.ts'
import type { GlobalIds } from './global-id.ts'
import { ask, type RequestContext } from './request-context.ts'
import type { Builder, FieldsOf, InterfaceSources, ObjectName, ObjectSources, Types } from './schema-types.ts'

type NodeName = ObjectName | (keyof InterfaceSources & string)
type Sources = ObjectSources & InterfaceSources
export type ConnectionRef<Name extends NodeName> = ObjectRef<Types, Connection<Sources[Name]>>

/** Whether a connection tells how long its list is: to the end, or up to a limit that may be given. */
export type Counted = 'exact' | 'limited' | 'uncounted'

/** What areas make their types and fields with. */
export interface Kit {
  readonly builder: Builder
  readonly globalIds: GlobalIds
  readonly settings: Pick<CoreSettings, 'serviceName' | 'externalUrl'>
  readonly connections: Connections
}

const COUNTED = 1_000

/**
 * The types `<Node>Connection` and `<Node>Edge`, each made when it is first asked for.
 *
 * @see spec/graphql-contract.md 3.1
 */
export class Connections {
  readonly #builder: Builder
  readonly #countedOf: Readonly<Record<string, Counted>>
  readonly #refs = new Map<NodeName, unknown>()
  readonly #pageInfo

  constructor(builder: Builder, countedOf: Readonly<Record<string, Counted>>) {
    this.#builder = builder
    this.#countedOf = countedOf
    this.#pageInfo = builder.objectRef<PageInfo>('PageInfo').implement({
      fields: (t) => ({
        hasNextPage: t.exposeBoolean('hasNextPage', { nullable: false }),
        hasPreviousPage: t.exposeBoolean('hasPreviousPage', { nullable: false }),
        startCursor: t.exposeString('startCursor'),
        endCursor: t.exposeString('endCursor'),
      }),
    })
  }

  of<Name extends NodeName>(node: Name): ConnectionRef<Name> {
    const known = this.#refs.get(node) as ConnectionRef<Name> | undefined
    if (known !== undefined) return known
    const ref = this.#define(node)
    this.#refs.set(node, ref)
    return ref
  }

  #define<Name extends NodeName>(node: Name): ConnectionRef<Name> {
    type Node = Sources[Name]
    const builder = this.#builder
    const nodeType = node as never
    const edge = builder.objectRef<{ readonly cursor: string; readonly node: Node }>(`${node}Edge`).implement({
      fields: (t) => ({
        cursor: t.exposeString('cursor', { nullable: false }),
        node: t.field({ type: nodeType, resolve: (source) => source.node as never }),
      }),
    })
    const counted = this.#countedOf[node] ?? 'uncounted'
    return builder.objectRef<Connection<Node>>(`${node}Connection`).implement({
      fields: (t) => ({
        ...(counted !== 'uncounted' && {
          count: t.int({
            nullable: false,
            args: { limit: t.arg.int(counted === 'limited' ? { defaultValue: COUNTED } : {}) },
            resolve: (connection, { limit }) => connection.count(countLimit(limit, counted)),
          }),
        }),
        edges: t.field({
          type: [edge],
          nullable: { list: true, items: true },
          resolve: async (connection) => {
            const { items, cursors } = await connection.page()
            return items.map((item, index) => ({ cursor: cursors[index]!, node: item }))
          },
        }),
        nodes: t.field({
          type: [nodeType],
          nullable: { list: true, items: true },
          resolve: async (connection) => (await connection.page()).items as never,
        }),
        pageInfo: t.field({
          type: this.#pageInfo,
          nullable: false,
          resolve: (connection) => connection.pageInfo(),
        }),
      }),
    }) as ConnectionRef<Name>
  }
}

function countLimit(limit: number | null | undefined, counted: 'exact' | 'limited'): number {
  const most = counted === 'limited' ? COUNTED : MOST_COUNTED
  if (limit == null) return most
  if (limit < 1 || (counted === 'limited' && limit > most)) {
    throw new GraphQLError(counted === 'limited' ? `limit must be between 1 and ${most}` : 'limit must be above 0')
  }
  return Math.min(limit, most)
}

/** Which page of a list. */
export const pagingArguments = <Parent>(t: FieldsOf<Parent>) => ({
  after: t.arg.string(),
  before: t.arg.string(),
  first: t.arg.int(),
  last: t.arg.int(),
})

interface ConnectionFieldOptions<Parent, Name extends NodeName, Args extends InputFieldMap> {
  readonly description?: string
  readonly args?: Args
  /** Default 100. */
  readonly maxPageSize?: number
  readonly nullable?: boolean
  /** `null`: the caller may not read the list. */
  list(
    parent: Parent,
    args: InputShapeFromFields<Args>,
    context: RequestContext,
  ): Promise<Listed<Sources[Name]> | null | undefined> | null | undefined
}

/** A field that is a list with pages, of an object, an interface or `Query`. */
export function connectionField<Parent, Name extends NodeName, Args extends InputFieldMap>(
  { connections }: Kit,
  fields:
    | FieldsOf<Parent>
    | PothosSchemaTypes.InterfaceFieldBuilder<Types, Parent>
    | PothosSchemaTypes.QueryFieldBuilder<Types, Parent>,
  node: Name,
  { description, args, maxPageSize, nullable = true, list }: ConnectionFieldOptions<Parent, Name, Args>,
): FieldRef<Types, unknown> {
  const t = fields as FieldsOf<Parent>
  return t.field({
    type: connections.of(node) as never,
    ...(description !== undefined && { description }),
    nullable,
    args: { ...pagingArguments(t), ...args } as never,
    resolve: async (parent: Parent, given: never, context: RequestContext) => {
      const listed = await list(parent, given, context)
      return (listed == null ? null : new Connection(listed, given, context.loaders, maxPageSize)) as never
    },
  } as never)
}

/** A list that the core has for each of many parents. */
export const listOf =
  <Input extends InputSchema, Parent, Item>(query: BatchQuery<Input, Parent, Listed<Item>>) =>
  (parent: Parent, input: object, context: RequestContext): Promise<Listed<Item> | undefined> =>
    ask(context, query, parent, input)

interface MutationOptions<Fields extends InputFieldMap, Result extends object> {
  readonly description?: string
  readonly input: (t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) => Fields
  /** `errors` of the result, if there are any: those of a change that was not made. */
  run(
    input: InputShapeFromFields<Fields>,
    context: RequestContext,
  ): Promise<Result & { readonly errors?: readonly string[] }>
  /** Fields of the payload beside `errors`; all are null after a failure. */
  readonly payload: (
    t: FieldsOf<PayloadSource<Result>>,
  ) => Record<string, ReturnType<FieldsOf<PayloadSource<Result>>['field']>>
}

export type PayloadSource<Result extends object> = Partial<Result> & {
  readonly clientMutationId: string | null | undefined
  readonly errors: readonly string[]
}

/**
 * A field of `Mutation`, with its types `<Name>Input` and `<Name>Payload`.
 *
 * @see spec/graphql-contract.md 3.5, 4.3
 */
export function mutation<Fields extends InputFieldMap, Result extends object>(
  { builder }: Kit,
  name: string,
  { description, input: fields, payload, run }: MutationOptions<Fields, Result>,
): void {
  const typeName = name.replace(/^./, (letter) => letter.toUpperCase())
  const input = builder.inputType(`${typeName}Input`, {
    fields: (t) => ({ clientMutationId: t.string(), ...fields(t) }) as never,
  })
  const payloadType = builder.objectRef<PayloadSource<Result>>(`${typeName}Payload`).implement({
    fields: (t) =>
      ({
        clientMutationId: t.string({ resolve: ({ clientMutationId }) => clientMutationId }),
        errors: t.stringList({ nullable: false, resolve: (source) => [...source.errors] }),
        ...payload(t as never),
      }) as never,
  })
  builder.mutationField(name, (t) =>
    t.field({
      type: payloadType as never,
      ...(description !== undefined && { description }),
      args: { input: t.arg({ type: input as never, required: true }) },
      resolve: async (_, given, context) => {
        const { clientMutationId, ...values } = given.input as { clientMutationId?: string | null }
        if (!context.mayWrite) throw notAvailable()
        try {
          const result = await run(values as never, context)
          context.loaders.forget()
          return { errors: [], ...result, clientMutationId } as never
        } catch (error) {
          if (error instanceof GraphQLError) throw error
          return { clientMutationId, errors: businessFailure(error) } as never
        }
      },
    }),
  )
}
