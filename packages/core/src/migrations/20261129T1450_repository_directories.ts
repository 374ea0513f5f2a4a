import { type Kysely, type Migration, sql } from 'kysely'

/**
 * Stores the directory of each repository. Repositories of earlier versions keep the directory that has their name; a directory that
 * no row names is not used any more.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('repository_directories')
      .addColumn('repository', 'text', (column) => column.primaryKey())
      .addColumn('directory', 'text', (column) => column.notNull().unique())
      .execute()
    await db.schema
      .alterTable('repository_changes')
      .addColumn('directory', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
    await sql`update repository_changes set directory = repository`.execute(db)
    // Every wiki and snippet with a repository has a size. A repository that is being created gets no row, because its
    // unfinished change is undone.
    await sql`
      insert into repository_directories (repository, directory)
      select name, name from (
        select cast(id as text) as name from projects where is_empty = 0
        union select repository from repository_sizes
        union select repository from removed_repositories where is_swept = 0
      ) as known
      where name not in (select repository from repository_changes where creates = 1)
    `.execute(db)
  },
}
