import { addFolded } from '@penstock/db'
import type { Migration } from 'kysely'

/** What search takes away the case of letters with. */
export const migration: Migration = { up: (db) => addFolded(db) }
