import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  AccessLevel,
  Actor,
  Core,
  CoreSettings,
  CoreTables,
  Group,
  InputSchema,
  Operation,
  Project,
  RequestFacts,
  ShownMergeRequest,
  Tx,
  User,
  Visibility,
} from '@penstock/core'
import { type Db, isPostgresUrl, openDatabase, openSqlite } from '@penstock/db'
import type { MarkupRenderer } from '@penstock/markup'
import type { KyselyPlugin } from 'kysely'
import { temporaryCoreDatabase } from './core-database.ts'
import { ManualClock } from './manual-clock.ts'
import type { TemporaryDatabase } from './temporary-database.ts'

/** 2026-02-03T04:05:06.789Z */
export const WORLD_BEGINS_MS = Date.UTC(2026, 1, 3, 4, 5, 6, 789)

/**
 * The type of the core's module. The module is imported when the first world is created, because it is large and most
 * tests with this package do not need it.
 */
type Domain = typeof import('@penstock/core')

/** Opens a database that need not survive a power failure: on SQLite, waiting for the disk would be half of a test's time. */
const openAt = (location: string): Db<CoreTables> =>
  isPostgresUrl(location) ? openDatabase(location) : openSqlite(location, { survives: 'process-loss' })

/** A core with a temporary database and a manual clock, and short methods that create users, groups, projects and members. */
export class World {
  readonly core: Core
  readonly clock: ManualClock
  readonly directory: string
  readonly #database: TemporaryDatabase
  readonly #domain: Domain
  readonly #markup: MarkupRenderer
  #statements = 0

  static async open(settings: Partial<CoreSettings> = {}): Promise<World> {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-world-'))
    const database = await temporaryCoreDatabase(directory)
    const db = openAt(database.location)
    // Its threads start with the first text.
    const markup = (await import('@penstock/markup')).MarkupRenderer.start({ threads: 1 })
    const world = new World(await import('@penstock/core'), directory, database, db, markup, settings)
    // Otherwise the first operation that uses a setting would have one statement more than the next.
    await world.#domain.settingsOf(world.core)
    return world
  }

  private constructor(
    domain: Domain,
    directory: string,
    database: TemporaryDatabase,
    db: Db<CoreTables>,
    markup: MarkupRenderer,
    settings: Partial<CoreSettings>,
  ) {
    this.#domain = domain
    this.#markup = markup
    this.directory = directory
    this.#database = database
    this.clock = new ManualClock(WORLD_BEGINS_MS)
    this.core = {
      db: this.#counted(db),
      clock: this.clock,
      randomBytes,
      listeners: [domain.storedTextLimit],
      markup,
      settings: {
        serviceName: 'svc',
        externalUrl: 'https://svc.example.test',
        repositoriesDir: join(directory, 'repositories'),
        secretsKey: randomBytes(32),
        projectStorageBytes: 0,
        impersonationEnabled: true,
        settingsCacheSeconds: 60,
        pinnedSettings: {},
        ...settings,
      },
    }
  }

  /** The location of the database, to open it a second time as another process would. */
  get location(): string {
    return this.#database.location
  }

  user(username: string, { isAdministrator = false } = {}): Promise<User> {
    const email = `${username}@example.test`
    return this.#write((tx) =>
      this.#domain.insertUser(tx, { username, name: `${username} Holt`, email, isAdministrator }),
    )
  }

  group(
    path: string,
    { parent, visibility = 'private' }: { parent?: Group; visibility?: Visibility } = {},
  ): Promise<Group> {
    return this.#write((tx) => this.#domain.insertGroup(tx, { parent, path, name: path, visibility }))
  }

  project(path: string, parent: Group | User, visibility: Visibility = 'private'): Promise<Project> {
    return this.#write((tx) => this.#domain.insertProject(tx, { parent, path, name: path, visibility }))
  }

  member(subject: Group | Project, user: User, level: AccessLevel, expiresAt?: string): Promise<void> {
    return this.#write((tx) =>
      this.#domain.insertMember(tx, subject, { userId: user.id, level, ...(expiresAt && { expiresAt }) }),
    )
  }

  /** Records branches of a project without commits, for tests that need only their names. Returns the new ones. */
  async branches({ id }: Pick<Project, 'id'>, ...names: string[]): Promise<string[]> {
    const real = await this.core.db.read
      .selectFrom('branch_tips')
      .select('sha')
      .where('project_id', '=', id)
      .executeTakeFirst()
    // In a project with commits, all of them point to one that exists.
    const sha = real?.sha ?? '0'.repeat(40)
    const values = [...new Set(names)].map((name) => ({ project_id: id, name, sha }))
    const rows = await this.#write(({ db }) =>
      db
        .insertInto('branch_tips')
        .values(values)
        .onConflict((taken) => taken.doNothing())
        .returning('name')
        .execute(),
    )
    return rows.map(({ name }) => name)
  }

  /**
   * Creates a merge request. Branches that do not exist are recorded while it is created, and removed again afterwards,
   * as if they had been deleted.
   */
  async mergeRequest(
    actor: Actor,
    draft: {
      readonly project: number
      readonly sourceBranch: string
      readonly targetBranch: string
      readonly [more: string]: unknown
    },
  ): Promise<ShownMergeRequest> {
    const { project, sourceBranch, targetBranch } = draft
    const added = await this.branches({ id: project }, sourceBranch, targetBranch)
    try {
      return await this.perform(actor, this.#domain.createMergeRequest, draft)
    } finally {
      const names = added.length === 0 ? [''] : added
      await this.#write(({ db }) =>
        db.deleteFrom('branch_tips').where('project_id', '=', project).where('name', 'in', names).execute(),
      )
    }
  }

  perform<Input extends InputSchema, Result>(
    actor: Actor,
    operation: Operation<Input, Result>,
    input: unknown,
    request?: RequestFacts,
  ): Promise<Result> {
    return this.#domain.perform(this.core, actor, operation, input, { ...(request && { request }) })
  }

  /** Returns the number of statements that `work` executes outside transactions. */
  async statements(work: () => Promise<unknown>): Promise<number> {
    const before = this.#statements
    await work()
    return this.#statements - before
  }

  async close(): Promise<void> {
    await this.#markup.close()
    await this.core.db.close()
    await this.#database.remove()
    rmSync(this.directory, { recursive: true })
  }

  #counted(db: Db<CoreTables>): Db<CoreTables> {
    const counting: KyselyPlugin = {
      // Kysely also calls this for subqueries, so it must not count.
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        this.#statements += 1
        return result
      },
    }
    return {
      read: db.read.withPlugin(counting),
      readWithin: (limit, subscriber) => db.readWithin(limit, subscriber).withPlugin(counting),
      write: (work, options) => db.write(work, options),
      ...(db.counterIn && { counterIn: db.counterIn }),
      close: () => db.close(),
    }
  }

  #write<Result>(work: (tx: Pick<Tx, 'db' | 'nowMs'>) => Promise<Result>): Promise<Result> {
    return this.core.db.write((db) => work({ db, nowMs: this.clock.nowMs() }))
  }
}
