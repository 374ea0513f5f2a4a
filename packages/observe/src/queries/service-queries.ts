import { type Signal, signalNames } from '@penstock/otlp'
import { type Kysely, sql } from 'kysely'
import { type Page, type Position, toPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import type { ObserveTables } from '../schema/tables.ts'

export interface ServiceSummary {
  readonly name: string
  /** The signals for which the store has data of this service. */
  readonly signals: readonly Signal[]
  /** Accurate to the minute. */
  readonly last_seen_at: string
}

export const MAX_SERVICES = 1_000

/** Returns services by name, at most 1,000 of them. */
export async function listServices(
  db: Kysely<ObserveTables>,
  after: Position | undefined,
  budget: ResponseBudget,
): Promise<Page<ServiceSummary>> {
  const rows = await budget.list(
    db
      .selectFrom('services')
      .innerJoin('slices', 'slices.id', 'services.used_slice_id')
      .select([
        'services.key as name',
        'slices.started_ms',
        sql<number>`exists (select 1 from trace_parts where service_id = services.id)`.as('traces'),
        sql<number>`exists (select 1 from series where service_id = services.id)`.as('metrics'),
        sql<number>`exists (select 1 from log_records where service_id = services.id)`.as('logs'),
      ])
      .$if(after !== undefined, (select) => select.where('services.key', '>', after![0]!))
      .orderBy('services.key')
      .limit(MAX_SERVICES + 1),
    {
      toItem: (row): ServiceSummary => ({
        name: row.name,
        signals: signalNames.filter((signal) => row[signal] === 1),
        last_seen_at: new Date(row.started_ms).toISOString(),
      }),
      positionOf: ({ name }) => [name],
    },
  )
  return toPage(rows, { limit: MAX_SERVICES, isTruncated: budget.isTruncated }, ({ name }) => [name])
}

/** Returns the id of a service; `undefined` if it is unknown. */
export async function findServiceId(db: Kysely<ObserveTables>, name: string): Promise<number | undefined> {
  const row = await db.selectFrom('services').select('id').where('key', '=', name).executeTakeFirst()
  return row?.id
}
