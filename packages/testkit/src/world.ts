import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AccessLevel,
  type Actor,
  type Core,
  type CoreSettings,
  type CoreTables,
  type Group,
  type InputSchema,
  insertGroup,
  insertMember,
  insertProject,
  insertUser,
  migrateCore,
  type Operation,
  type Project,
  perform,
  type Tx,
  type User,
  type Visibility,
} from '@penstock/core'
import { type Db, openDatabase } from '@penstock/db'
import { ManualClock } from './manual-clock.ts'
import { type TemporaryDatabase, temporaryDatabase } from './temporary-database.ts'

/** 2026-02-03T04:05:06.789Z */
export const WORLD_BEGINS_MS = Date.UTC(2026, 1, 3, 4, 5, 6, 789)

/** A core on a database of its own, with a clock that a test moves, and short ways to put people and things into it. */
export class World {
  readonly core: Core
  readonly clock: ManualClock
  readonly directory: string
  readonly #database: TemporaryDatabase

  static async open(settings: Partial<CoreSettings> = {}): Promise<World> {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-world-'))
    const database = await temporaryDatabase(directory)
    const db = openDatabase<CoreTables>(database.location)
    await migrateCore(db)
    return new World(directory, database, db, settings)
  }

  private constructor(
    directory: string,
    database: TemporaryDatabase,
    db: Db<CoreTables>,
    settings: Partial<CoreSettings>,
  ) {
    this.directory = directory
    this.#database = database
    this.clock = new ManualClock(WORLD_BEGINS_MS)
    this.core = {
      db,
      clock: this.clock,
      randomBytes,
      settings: {
        serviceName: 'svc',
        externalUrl: 'https://svc.example.test',
        repositoriesDir: join(directory, 'repositories'),
        secretsKey: randomBytes(32),
        impersonationEnabled: true,
        personalAccessTokenPrefix: 'svcpat-',
        oauthTokenLifetimeSeconds: 7_200,
        adminMode: false,
        ropcWithoutClientCredentials: true,
        ...settings,
      },
    }
  }

  user(username: string, { isAdministrator = false } = {}): Promise<User> {
    const email = `${username}@example.test`
    return this.#write((tx) => insertUser(tx, { username, name: `${username} Holt`, email, isAdministrator }))
  }

  group(
    path: string,
    { parent, visibility = 'private' }: { parent?: Group; visibility?: Visibility } = {},
  ): Promise<Group> {
    return this.#write((tx) => insertGroup(tx, { parent, path, name: path, visibility }))
  }

  project(path: string, parent: Group | User, visibility: Visibility = 'private'): Promise<Project> {
    return this.#write((tx) => insertProject(tx, { parent, path, name: path, visibility }))
  }

  member(subject: Group | Project, user: User, level: AccessLevel, expiresAt?: string): Promise<void> {
    return this.#write((tx) => insertMember(tx, subject, { userId: user.id, level, ...(expiresAt && { expiresAt }) }))
  }

  perform<Input extends InputSchema, Result>(
    actor: Actor,
    operation: Operation<Input, Result>,
    input: unknown,
  ): Promise<Result> {
    return perform(this.core, actor, operation, input)
  }

  async close(): Promise<void> {
    await this.core.db.close()
    await this.#database.remove()
    rmSync(this.directory, { recursive: true })
  }

  #write<Result>(work: (tx: Pick<Tx, 'db' | 'nowMs'>) => Promise<Result>): Promise<Result> {
    return this.core.db.write((db) => work({ db, nowMs: this.clock.nowMs() }))
  }
}
