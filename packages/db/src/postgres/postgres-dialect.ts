import {
  type DatabaseIntrospector,
  type DatabaseMetadataOptions,
  type DataTypeNode,
  DEFAULT_MIGRATION_LOCK_TABLE,
  DEFAULT_MIGRATION_TABLE,
  type Kysely,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type TableMetadata,
} from 'kysely'

/** Kysely's dialect with the types of numbers and the list of tables that `Db` promises. */
export class Dialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new BigintQueryCompiler()
  }

  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new CurrentSchemaIntrospector(db)
  }
}

/** Creates `integer` columns as `bigint`, like SQLite's. With 32 bits, a query for a larger number would be an error. */
class BigintQueryCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    this.append(node.dataType === 'integer' ? 'bigint' : node.dataType)
  }
}

/**
 * Lists the tables of the current schema, without their columns. Kysely's own introspector reads every schema of the
 * database, and fails if another one is dropped at the same time.
 */
class CurrentSchemaIntrospector extends PostgresIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables({
    withInternalKyselyTables = false,
  }: Partial<DatabaseMetadataOptions> = {}): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string; schema: string; kind: string }>`
      select pg_class.relname as name, pg_namespace.nspname as schema, pg_class.relkind as kind
      from pg_class inner join pg_namespace on pg_namespace.oid = pg_class.relnamespace
      where pg_namespace.nspname = current_schema() and pg_class.relkind in ('r', 'p', 'v')
      order by pg_class.relname`.execute(this.#db)
    const internal = [DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE]
    return rows
      .filter(({ name }) => withInternalKyselyTables || !internal.includes(name))
      .map(({ name, schema, kind }) => ({ name, schema, isView: kind === 'v', columns: [] }))
  }
}
