import type { ObjectRef } from '@pothos/core'
import { GraphQLError } from 'graphql'
import { type Connection, MAX_COUNTED, type PageInfo } from './connection.ts'
import type {
  Builder,
  FieldsOf,
  InterfaceSources,
  ObjectName,
  ObjectSources,
  ObjectSums,
  Types,
} from './schema-types.ts'

export type NodeName = ObjectName | (keyof InterfaceSources & string)
export type Sources = ObjectSources & InterfaceSources
export type SumOf<Name> = Name extends keyof ObjectSums ? ObjectSums[Name] : never
type ConnectionRef<Name extends NodeName> = ObjectRef<Types, Connection<Sources[Name], SumOf<Name>>>

/** Whether a connection has a `count`: of the whole list, up to a limit that the client may set, or none. */
export type Counted = 'exact' | 'limited' | 'uncounted'

const MAX_LIMITED_COUNT = 1_000

/** Defines the types `<Node>Connection` and `<Node>Edge`, each on first use. */
export class Connections {
  readonly #builder: Builder
  readonly #countKinds = new Map<NodeName, Counted>()
  readonly #refs = new Map<NodeName, unknown>()
  readonly #pageInfo

  constructor(builder: Builder) {
    this.#builder = builder
    this.#pageInfo = builder.objectRef<PageInfo>('PageInfo').implement({
      fields: (t) => ({
        hasNextPage: t.exposeBoolean('hasNextPage', { nullable: false }),
        hasPreviousPage: t.exposeBoolean('hasPreviousPage', { nullable: false }),
        startCursor: t.exposeString('startCursor'),
        endCursor: t.exposeString('endCursor'),
      }),
    })
  }

  /** Declares whether the connection of a node type has a `count`. Default: `uncounted`. */
  count(node: NodeName, counted: Counted): void {
    this.#countKinds.set(node, counted)
  }

  of<Name extends NodeName>(node: Name): ConnectionRef<Name> {
    const existing = this.#refs.get(node) as ConnectionRef<Name> | undefined
    if (existing !== undefined) return existing
    const ref = this.#define(node)
    this.#refs.set(node, ref)
    return ref
  }

  #define<Name extends NodeName>(node: Name): ConnectionRef<Name> {
    type Node = Sources[Name]
    const builder = this.#builder
    // Pothos resolves a name to its source type only if the name is known here.
    const nodeType = node as unknown as ObjectRef<Types, Node>
    const edge = builder.objectRef<{ readonly cursor: string; readonly node: Node }>(`${node}Edge`).implement({
      fields: (t) => ({
        cursor: t.exposeString('cursor', { nullable: false }),
        // Pothos cannot know that the type parameter is not a list.
        node: t.field({ type: nodeType, resolve: (source) => source.node as never }),
      }),
    })
    return builder.objectRef<Connection<Node, SumOf<Name>>>(`${node}Connection`).implement({
      fields: (t) => ({
        ...this.#countField(node, t),
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
          resolve: async (connection) => (await connection.page()).items,
        }),
        pageInfo: t.field({
          type: this.#pageInfo,
          nullable: false,
          resolve: (connection) => connection.pageInfo(),
        }),
      }),
    }) as ConnectionRef<Name>
  }

  #countField<Node, Sum extends string>(node: NodeName, t: FieldsOf<Connection<Node, Sum>>) {
    const counted = this.#countKinds.get(node) ?? 'uncounted'
    if (counted === 'uncounted') return {}
    return {
      count: t.int({
        nullable: false,
        args: { limit: t.arg.int(counted === 'limited' ? { defaultValue: MAX_LIMITED_COUNT } : {}) },
        resolve: (connection, { limit }) => (connection as Connection<Node, Sum>).count(countLimit(limit, counted)),
      }),
    }
  }
}

function countLimit(limit: number | null | undefined, counted: 'exact' | 'limited'): number {
  const max = counted === 'limited' ? MAX_LIMITED_COUNT : MAX_COUNTED
  if (limit == null) return max
  if (limit < 1 || (counted === 'limited' && limit > max)) {
    throw new GraphQLError(counted === 'limited' ? `limit must be between 1 and ${max}` : 'limit must be above 0')
  }
  return Math.min(limit, max)
}
