import {
  type CompiledQuery,
  type ConnectionProvider,
  DefaultQueryExecutor,
  type DialectAdapter,
  type QueryCompiler,
  type QueryResult,
} from 'kysely'

/** The parts of a dialect that all handles of a database share. `Lookup` recognises the dialect by its adapter. */
export interface SharedDialect {
  readonly adapter: DialectAdapter
  readonly compiler: QueryCompiler
}

/**
 * Passes each statement to `run`, without reserving a connection. Kysely would await a dozen promises to reserve and release
 * it, which takes longer than a short statement. It still does so for handles with plugins.
 */
export class DirectExecutor extends DefaultQueryExecutor {
  readonly #run: (query: CompiledQuery) => Promise<QueryResult<unknown>>

  constructor(
    { adapter, compiler }: SharedDialect,
    connections: ConnectionProvider,
    run: (query: CompiledQuery) => Promise<QueryResult<unknown>>,
  ) {
    super(compiler, adapter, connections)
    this.#run = run
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#run(query) as Promise<QueryResult<Row>>
  }
}
