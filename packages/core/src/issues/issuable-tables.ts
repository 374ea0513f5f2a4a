import type { CoreTables } from '../kit/tables.ts'

/** Where those of a kind lie, and in which column of the tables of pairs their id stands. */
export interface IssuableTables {
  readonly items: 'issues' | 'merge_requests'
  readonly itemId: string
  readonly labels: keyof CoreTables
  readonly assignees: keyof CoreTables
}
