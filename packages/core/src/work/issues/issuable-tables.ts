import type { CoreTables } from '../../base/kit/tables.ts'

/**
 * The tables of issues or of merge requests, and the name of the column that refers to them in the tables of their
 * labels and users.
 */
export interface IssuableTables {
  readonly items: 'issues' | 'merge_requests'
  readonly itemId: string
  readonly labels: keyof CoreTables
  readonly assignees: keyof CoreTables
  readonly subscriptions: keyof CoreTables
}
