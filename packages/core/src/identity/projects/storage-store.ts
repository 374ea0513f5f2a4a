import { Lookup } from '@penstock/db'
import { type Generated, type Selectable, sql } from 'kysely'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Core, Tx } from '../../base/operations/context.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    project_storage: ProjectStorageTable
  }
}

interface ProjectStorageTable {
  project_id: number
  /** The bytes of the Git objects on the disk; null until they have been measured. */
  repository_bytes: number | null
  records_bytes: number
  /** The bytes of the repositories of its snippets. */
  snippets_bytes: Generated<number>
  /** The bytes of the repository of its wiki. */
  wiki_bytes: Generated<number>
  /** The bytes of descriptions and notes, with a part for each row. Triggers count them. */
  texts_bytes: Generated<number>
  measured_at_ms: number | null
}

interface ProjectStorage {
  /** The bytes of the repository; `undefined` until it has been measured. */
  readonly repositoryBytes: number | undefined
  readonly recordsBytes: number
  readonly snippetsBytes: number
  readonly wikiBytes: number
  readonly textsBytes: number
}

/** The storage of a project that has stored nothing yet. */
export const nothingStored: ProjectStorage = {
  repositoryBytes: undefined,
  recordsBytes: 0,
  snippetsBytes: 0,
  wikiBytes: 0,
  textsBytes: 0,
}

const columns = ['repository_bytes', 'records_bytes', 'snippets_bytes', 'wiki_bytes', 'texts_bytes'] as const

const storageOf = (row: Pick<Selectable<ProjectStorageTable>, (typeof columns)[number]>): ProjectStorage => ({
  repositoryBytes: row.repository_bytes ?? undefined,
  recordsBytes: row.records_bytes,
  snippetsBytes: row.snippets_bytes,
  wikiBytes: row.wiki_bytes,
  textsBytes: row.texts_bytes,
})

/** Returns the sum of all bytes that count for a project. */
export const totalBytes = ({
  repositoryBytes = 0,
  recordsBytes,
  snippetsBytes,
  wikiBytes,
  textsBytes,
}: ProjectStorage): number => repositoryBytes + recordsBytes + snippetsBytes + wikiBytes + textsBytes

/** The sum of all bytes in a row, for SQL. */
export const storedTotal = sql<number>`
  coalesce(repository_bytes, 0) + records_bytes + snippets_bytes + wiki_bytes + texts_bytes`

/** The change of a project's stored bytes; negative for removals. */
interface StorageGrowth {
  readonly repositoryBytes?: number
  readonly recordsBytes?: number
  readonly snippetsBytes?: number
  readonly wikiBytes?: number
}

/** Returns the stored bytes of the project. A project without a row has stored nothing yet. */
export async function findProjectStorage({ db }: Pick<ReadContext, 'db'>, projectId: number): Promise<ProjectStorage> {
  const row = await db
    .selectFrom('project_storage')
    .select(columns)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row === undefined ? nothingStored : storageOf(row)
}

/** Returns the stored bytes by project, without projects that have stored nothing yet. */
export async function findStorageOfProjects(
  { db }: Pick<ReadContext, 'db'>,
  projectIds: readonly number[],
): Promise<Map<number, ProjectStorage>> {
  const rows = await db
    .selectFrom('project_storage')
    .select(['project_id', ...columns])
    .where('project_id', 'in', [...new Set(projectIds)])
    .execute()
  return new Map(rows.map((row) => [row.project_id, storageOf(row)]))
}

/**
 * Adds the bytes of a write to a project, or rejects the write. Comparison and change are one statement, so that only
 * one of two concurrent writers gets the remaining space.
 *
 * @throws DomainError `storage_full`, never for a negative change; the caller must roll the transaction back
 */
export async function chargeStorage(
  { db }: Pick<Tx, 'db'>,
  { settings }: Pick<Core, 'settings'>,
  projectId: number,
  { repositoryBytes = 0, recordsBytes = 0, snippetsBytes = 0, wikiBytes = 0 }: StorageGrowth,
): Promise<void> {
  const growth = repositoryBytes + recordsBytes + snippetsBytes + wikiBytes
  const limitBytes = settings.projectStorageBytes
  const mostBytes = limitBytes > 0 && growth > 0 ? limitBytes - growth : Number.MAX_SAFE_INTEGER
  const grow = () => grownStorage.run(db, projectId, repositoryBytes, recordsBytes, snippetsBytes, wikiBytes, mostBytes)
  if ((await grow()) !== undefined) return
  await insertIfAbsent(db, projectId)
  if ((await grow()) !== undefined) return
  const stored = await findProjectStorage({ db }, projectId)
  throw storageFull({ settings }, totalBytes(stored), growth)
}

/** Adds bytes to those of a project with a row and, before that, at most `mostBytes`. */
const grownStorage = new Lookup(
  (
    db: ReadContext['db'],
    projectId: number,
    repositoryBytes: number,
    recordsBytes: number,
    snippetsBytes: number,
    wikiBytes: number,
    mostBytes: number,
  ) =>
    db
      .updateTable('project_storage')
      .set({
        repository_bytes: sql`repository_bytes + ${repositoryBytes}`,
        records_bytes: sql`records_bytes + ${recordsBytes}`,
        // A repository that was measured since may be larger than what was counted for it.
        snippets_bytes: sql`case when snippets_bytes + ${snippetsBytes} < 0 then 0 else snippets_bytes + ${snippetsBytes} end`,
        wiki_bytes: sql`wiki_bytes + ${wikiBytes}`,
      })
      .where('project_id', '=', projectId)
      .where(storedTotal, '<=', mostBytes)
      .returning('project_id'),
)

/** Replaces the counted bytes of the repository with those measured on the disk. */
export async function setRepositoryBytes(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  projectId: number,
  bytes: number,
): Promise<void> {
  await insertIfAbsent(db, projectId)
  await db
    .updateTable('project_storage')
    .set({ repository_bytes: bytes, measured_at_ms: nowMs })
    .where('project_id', '=', projectId)
    .execute()
}

/**
 * Returns projects with a repository that was not measured after `beforeMs`. Those that were never measured come first.
 */
export async function projectsToMeasure(
  { db }: Pick<ReadContext, 'db'>,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number[]> {
  const rows = await db
    .selectFrom('project_storage')
    .innerJoin('projects', 'projects.id', 'project_storage.project_id')
    .select('project_storage.project_id')
    .where('projects.is_empty', '=', 0)
    .where((eb) => eb.or([eb('measured_at_ms', 'is', null), eb('measured_at_ms', '<=', beforeMs)]))
    .orderBy(sql`coalesce(measured_at_ms, 0)`)
    .orderBy('project_storage.project_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.project_id)
}

/** @param neededBytes the bytes that the write would add, if known */
export function storageFull(
  { settings }: Pick<Core, 'settings'>,
  storedBytes: number,
  neededBytes?: number,
): DomainError {
  const needed = neededBytes !== undefined && { neededBytes }
  return new DomainError({ code: 'storage_full', limitBytes: settings.projectStorageBytes, storedBytes, ...needed })
}

async function insertIfAbsent(db: Tx['db'], projectId: number): Promise<void> {
  await db
    .insertInto('project_storage')
    .values({ project_id: projectId, repository_bytes: null, records_bytes: 0, measured_at_ms: null })
    .onConflict((conflict) => conflict.column('project_id').doNothing())
    .execute()
}
