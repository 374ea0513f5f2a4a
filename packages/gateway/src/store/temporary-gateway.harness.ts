import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock, type TemporaryDatabase, temporaryDatabase } from '@penstock/testkit'
import {
  defaultManagementRules,
  type ManagementRules,
  type OperationContext,
  type Role,
} from '../operations/operation-context.ts'
import { openPeppers } from '../secrets/open-peppers.ts'
import type { Peppers } from '../secrets/pepper.ts'
import { openGatewayStore } from './gateway-store.ts'
import type { GatewayDb } from './tables.ts'

/** 2026-11-21T07:00:00Z */
export const START_MS = 1_795_244_400_000

/** A gateway store for tests: on the server of `PENSTOCK_TEST_DATABASE_URL`, else in a temporary directory. */
export class TemporaryGateway {
  readonly directory: string
  readonly clock = new ManualClock(START_MS)
  readonly db: GatewayDb
  readonly peppers: Peppers
  propagations = 0
  readonly #database: TemporaryDatabase
  readonly #others: GatewayDb[] = []

  private constructor(directory: string, database: TemporaryDatabase, db: GatewayDb, peppers: Peppers) {
    this.directory = directory
    this.#database = database
    this.db = db
    this.peppers = peppers
  }

  static async open(): Promise<TemporaryGateway> {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-gateway-'))
    const database = await temporaryDatabase(directory)
    const db = await openGatewayStore(database.location)
    return new TemporaryGateway(directory, database, db, await openPeppers(db, { dataDir: directory, randomBytes }))
  }

  /** Opens the same database again, as another process would. */
  async openAnother(): Promise<GatewayDb> {
    const db = await openGatewayStore(this.#database.location)
    this.#others.push(db)
    return db
  }

  as(role: Role, rules: Partial<ManagementRules> = {}, db: GatewayDb = this.db): OperationContext {
    return {
      db,
      peppers: this.peppers,
      nowMs: () => this.clock.nowMs(),
      randomBytes,
      actor: { id: `key-${role}`, name: role, role },
      source: '192.0.2.7',
      requestId: 'request-1',
      rules: { ...defaultManagementRules, ...rules },
      propagate: async () => {
        this.propagations += 1
        return { instances: 1, applied: 1 }
      },
    }
  }

  async close(): Promise<void> {
    for (const db of [...this.#others, this.db]) await db.close()
    await this.#database.remove()
    rmSync(this.directory, { recursive: true })
  }
}
