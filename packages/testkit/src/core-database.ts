import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CoreTables } from '@penstock/core'
import { type Db, isPostgresUrl, openDatabase } from '@penstock/db'
import { type TemporaryDatabase, temporaryDatabase } from './temporary-database.ts'

type Transaction = Parameters<Parameters<Db<CoreTables>['write']>[0]>[0]
type Statement = Extract<Parameters<Transaction['executeQuery']>[0], { readonly sql: string }>

let migratedFile: Promise<Buffer> | undefined
let migratingStatements: Promise<readonly Statement[]> | undefined

/**
 * A new database with the core's tables in it. Only the first one of a process is migrated: on SQLite the others are copies of
 * its file, on PostgreSQL they are told the same statements, with fewer waits.
 */
export async function temporaryCoreDatabase(directory: string): Promise<TemporaryDatabase> {
  const database = await temporaryDatabase(directory)
  if (isPostgresUrl(database.location)) {
    await withDatabase(database.location, fillSchema)
  } else {
    migratedFile ??= newMigratedFile()
    writeFileSync(database.location, await migratedFile)
  }
  return database
}

/** Whoever closes an SQLite file last leaves all of it in that one file. */
async function newMigratedFile(): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-migrated-'))
  const file = join(directory, 'core.db')
  try {
    await withDatabase(file, migrated)
    return readFileSync(file)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function fillSchema(db: Db<CoreTables>): Promise<void> {
  if (migratingStatements === undefined) {
    migratingStatements = migrated(db)
    await migratingStatements
  } else {
    const statements = inOneGo(await migratingStatements)
    await db.write(async (tx) => {
      for (const statement of statements) await tx.executeQuery(statement)
    })
  }
}

/** What was said to the database for it. */
async function migrated(db: Db<CoreTables>): Promise<readonly Statement[]> {
  const { migrateCore } = await import('@penstock/core')
  const statements: Statement[] = []
  const heard = (tx: Transaction) =>
    new Proxy(tx, {
      get(target, name) {
        if (name === 'executeQuery') {
          return (statement: Statement) => {
            statements.push(statement)
            return target.executeQuery(statement)
          }
        }
        const value = Reflect.get(target, name, target)
        // Its private fields are not the proxy's.
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  await migrateCore({ ...db, write: (work, options) => db.write((tx) => work(heard(tx)), options) })
  return statements
}

/** PostgreSQL takes any number of statements at once if they have no parameters. */
function inOneGo(statements: readonly Statement[]): Statement[] {
  const joined: Statement[] = []
  for (const statement of statements) {
    const last = joined.at(-1)
    if (last !== undefined && last.parameters.length + statement.parameters.length === 0) {
      joined[joined.length - 1] = { ...last, sql: `${last.sql};\n${statement.sql}` }
    } else {
      joined.push(statement)
    }
  }
  return joined
}

async function withDatabase(location: string, work: (db: Db<CoreTables>) => Promise<unknown>): Promise<void> {
  const db = openDatabase<CoreTables>(location)
  await work(db).finally(() => db.close())
}
