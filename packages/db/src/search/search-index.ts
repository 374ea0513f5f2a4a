import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { searchIndexName } from './text-condition.ts'

/** The number of ids that are read at once while existing rows are indexed. */
const IDS_PER_STATEMENT = 1_000
/** How long existing rows may be indexed before the event loop gets a turn. */
const WITHOUT_TURN_MS = 10

/**
 * Adds the index of `textCondition` for some columns of a table with the key `id`, and indexes the existing rows; call it in a
 * migration.
 *
 * SQLite gets an FTS5 table with the tokens of each row, which triggers keep current in the transaction of the change. PostgreSQL
 * gets an index of the extension `pg_trgm`. If the extension is missing and the role may not create it, there is no index, and
 * searches read every text.
 */
export async function addSearchIndex(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) await addTrigramIndex(db, table, columns)
  else await addTokenTable(db, table, columns)
}

async function addTokenTable(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  const [items, index] = [sql.table(table), sql.table(searchIndexName(table))]
  const tokensIn = (row: string) =>
    sql`search_tokens(${sql.join(columns.map((column) => sql.ref(`${row}.${column}`)))})`
  const insert = sql`insert into ${index} (rowid, tokens) values (new.id, ${tokensIn('new')});`
  const remove = sql`delete from ${index} where rowid = old.id;`
  const trigger = (event: string) => sql`create trigger ${sql.id(`${searchIndexName(table)}_${event}`)}`
  const changed = sql.join(
    columns.map((column) => sql`old.${sql.id(column)} is not new.${sql.id(column)}`),
    sql` or `,
  )
  await sql`create virtual table ${index}
    using fts5 (tokens, tokenize = 'ascii', detail = none, content = '', contentless_delete = 1)`.execute(db)
  await sql`${trigger('insert')} after insert on ${items} begin ${insert} end`.execute(db)
  await sql`${trigger('delete')} after delete on ${items} begin ${remove} end`.execute(db)
  await sql`${trigger('update')} after update of ${sql.join(columns.map((column) => sql.id(column)))} on ${items}
    when ${changed} begin ${remove} ${insert} end`.execute(db)
  let turnMs = performance.now()
  for (let after = 0; ; ) {
    const { rows } = await sql<{ id: number }>`
      select id from ${items} where id > ${after} order by id limit ${sql.lit(IDS_PER_STATEMENT)}`.execute(db)
    for (const { id } of rows) {
      // One row each, because a row may take tens of milliseconds.
      await sql`insert into ${index} (rowid, tokens) select id, ${tokensIn(table)} from ${items} where id = ${id}`.execute(
        db,
      )
      if (performance.now() - turnMs < WITHOUT_TURN_MS) continue
      await nextTurn()
      turnMs = performance.now()
    }
    if (rows.length < IDS_PER_STATEMENT) return
    after = rows.at(-1)!.id
  }
}

async function addTrigramIndex(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  const schema = (await findExtensionSchema(db)) ?? (await createExtension(db))
  if (schema === undefined) return
  const expressions = columns.map((column) => sql`folded(${sql.id(column)}) ${sql.id(schema, 'gin_trgm_ops')}`)
  await sql`create index ${sql.id(searchIndexName(table))} on ${sql.table(table)} using gin (${sql.join(expressions)})`.execute(
    db,
  )
}

async function findExtensionSchema(db: Kysely<unknown>): Promise<string | undefined> {
  const { rows } = await sql<{ schema: string }>`select nspname as schema from pg_extension
    inner join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`.execute(db)
  return rows[0]?.schema
}

/**
 * Creates the extension, and returns its schema; `undefined` if the role may not, or if the server does not have it. It is put into
 * the schema `public` if there is one, because other schemas of the database use it too.
 */
async function createExtension(db: Kysely<unknown>): Promise<string | undefined> {
  // Another schema's migration may create it at the same time. The block undoes only what it has done itself.
  await sql`do $$ begin
    if exists (select from pg_namespace where nspname = 'public') then
      create extension if not exists pg_trgm with schema public;
    else
      create extension if not exists pg_trgm;
    end if;
  exception when others then null;
  end $$`.execute(db)
  return findExtensionSchema(db)
}
