import { type Db, openPostgres } from '@penstock/db'
import { sql } from 'kysely'
import { type TemporaryDatabase, temporarySchema } from './temporary-database.ts'

/**
 * Migrated schemas of a PostgreSQL server, which tests use one after the other: emptying a schema takes a fraction of the
 * time of dropping it and migrating a new one.
 *
 * It needs a superuser and leaves its schemas behind, so the server must be one that is removed after the tests.
 */
export class CoreSchemas {
  readonly #serverUrl: string
  readonly #migrateAt: (location: string) => Promise<void>
  readonly #server: Db<object>
  readonly #free: TemporaryDatabase[] = []

  constructor(serverUrl: string, migrateAt: (location: string) => Promise<void>) {
    this.#serverUrl = serverUrl
    this.#migrateAt = migrateAt
    this.#server = openPostgres(serverUrl)
  }

  /** Returns a schema with empty tables. Its `remove` empties it for the next caller. */
  async take(): Promise<TemporaryDatabase> {
    const schema = this.#free.pop() ?? (await this.#create())
    return {
      location: schema.location,
      remove: async () => {
        await this.#server.write(async (tx) => {
          const name = new URL(schema.location).searchParams.get('application_name')!
          await sql`select set_config('search_path', ${name}, true)`.execute(tx)
          await sql.raw(emptySchema).execute(tx)
        })
        this.#free.push(schema)
      },
    }
  }

  async #create(): Promise<TemporaryDatabase> {
    const schema = await temporarySchema(this.#serverUrl)
    await this.#migrateAt(schema.location)
    return schema
  }
}

/**
 * Empties the first schema of the search path, as if it had just been migrated. It first ends the connections that are still
 * open, so that a test cannot write into the data of the next one. A table without pages never had rows.
 */
const emptySchema = `
  do $$
  declare
    schema oid := current_schema()::regnamespace;
    each regclass;
  begin
    loop
      perform pg_terminate_backend(pid) from pg_stat_activity where application_name = current_schema();
      exit when not found;
      perform pg_sleep(0.001), pg_stat_clear_snapshot();
    end loop;
    -- Without the triggers of foreign keys, the order of the tables does not matter.
    set local session_replication_role = replica;
    for each in
      select oid from pg_class
      where relnamespace = schema and relkind = 'r' and not starts_with(relname, 'kysely_') and pg_relation_size(oid) > 0
    loop
      execute format('delete from %s', each);
    end loop;
    for each in
      select oid from pg_class
      where case when relnamespace = schema and relkind = 'S' then pg_sequence_last_value(oid) end is not null
    loop
      execute format('alter sequence %s restart', each);
    end loop;
  end $$`
