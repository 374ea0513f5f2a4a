import { addFolded } from '@penstock/db'
import type { Migration } from 'kysely'

/** The function that folds the case of letters for searches. */
export const migration: Migration = { up: (db) => addFolded(db) }
