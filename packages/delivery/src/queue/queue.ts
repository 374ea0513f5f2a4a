import { type Db, RowInsertion } from '@penstock/db'
import { type Insertable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { DeliveriesTable, DeliveryTables } from './deliveries.ts'
import type {
  ClaimedDelivery,
  ClaimOptions,
  DeliveryStatus,
  NewDelivery,
  OpenLane,
  QueueCounts,
  Settlement,
} from './delivery.ts'
import { is, isNotPoison, isPoison, settledColumns, toDeliveryStatus } from './delivery-rows.ts'

type NewRow = Pick<
  Insertable<DeliveriesTable>,
  'queue' | 'key' | 'lane' | 'subject' | 'state' | 'enqueued_at_ms' | 'due_at_ms' | 'attempts' | 'progress' | 'reason'
>

const insertDeliveries = new RowInsertion<DeliveryTables, NewRow>(
  ['queue', 'key', 'lane', 'subject', 'state', 'enqueued_at_ms', 'due_at_ms', 'attempts', 'progress', 'reason'],
  (tx, rows) =>
    tx
      .insertInto('deliveries')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['queue', 'key']).doNothing()),
)

/** The maximum number of rows per statement, within the parameter limits of PostgreSQL and SQLite. */
const MAX_ROWS = 1_000
const MAX_COUNT = 100_000

/**
 * A queue of deliveries in a table that several processes share. It delivers at least once: a committed delivery is claimed
 * again and again until a process settles it.
 *
 *     open ── claim (due moves to the end of the lease) ── settle ─► delivered
 *      ▲                     │                               ├─────► dead ── replay ─► open
 *      └──── lease ends ─────┘◄──────────── retry ───────────┘
 */
export class DeliveryQueue {
  readonly #db: Db<DeliveryTables>
  readonly #name: string

  constructor(db: Db<DeliveryTables>, name: string) {
    this.#db = db
    this.#name = name
  }

  /**
   * Enqueues deliveries in the caller's transaction, so that they are stored together with the data they are about, or not at
   * all. Returns the number of new ones.
   */
  async enqueue(tx: Transaction<DeliveryTables>, deliveries: readonly NewDelivery[], nowMs: number): Promise<number> {
    return insertDeliveries.run(
      tx,
      deliveries.map(({ key, lane, subject, dueAtMs = nowMs }) => ({
        queue: this.#name,
        key,
        lane,
        subject,
        state: 'open' as const,
        enqueued_at_ms: nowMs,
        due_at_ms: dueAtMs,
        attempts: 0,
        progress: '',
        reason: '',
      })),
    )
  }

  /**
   * Lets open deliveries without a claim fall due later, but not later than `mostMs` after they were enqueued. Runs in
   * the caller's transaction.
   */
  async postpone(
    tx: Transaction<DeliveryTables>,
    keys: readonly string[],
    { dueAtMs, mostMs }: { readonly dueAtMs: number; readonly mostMs: number },
  ): Promise<void> {
    if (keys.length === 0) return
    const latest = sql<number>`enqueued_at_ms + ${sql.lit(mostMs)}`
    await tx
      .updateTable('deliveries')
      .set({
        due_at_ms: sql<number>`case when ${latest} < ${sql.lit(dueAtMs)} then ${latest} else ${sql.lit(dueAtMs)} end`,
      })
      .where('queue', '=', this.#name)
      .where('key', 'in', keys)
      .where('attempts', '=', 0)
      .where('due_at_ms', '<', dueAtMs)
      .where(is('open'))
      .execute()
  }

  /**
   * Lists up to `limit` lanes with open deliveries, in the order of their names, beginning after the lane `after`. Each
   * has the time when its first delivery falls due; a claimed delivery falls due at the end of its lease. The query
   * steps from lane to lane over the index, so its cost does not depend on the number of deliveries in a lane.
   */
  async listOpenLanes({ limit, after = '' }: { readonly limit: number; readonly after?: string }): Promise<OpenLane[]> {
    const first = (column: RawBuilder<unknown>, condition: RawBuilder<unknown>) =>
      sql`select min(${column}) from deliveries where queue = ${this.#name} and state = 'open' and ${condition}`
    const { rows } = await sql<{ lane: string; due: number }>`
      with recursive lanes(lane, position) as (
        select (${first(sql`lane`, sql`lane > ${after}`)}), 1
        union all
        select (${first(sql`lane`, sql`deliveries.lane > lanes.lane`)}), position + 1
        from lanes where lanes.lane is not null and position < ${limit}
      )
      select lane, (${first(sql`due_at_ms`, sql`deliveries.lane = lanes.lane`)}) as due
      from lanes where lane is not null order by position`.execute(this.#db.read)
    return rows.map(({ lane, due }) => ({ lane, dueMs: Number(due) }))
  }

  /**
   * Lists the lanes of due poison deliveries, the longest due first. Ordinary claims skip such deliveries, because a crash would
   * abandon the rest of the batch too.
   */
  async listPoisonLanes(nowMs: number): Promise<string[]> {
    const due = this.#of(this.#db.read)
      .where(is('open'))
      .where(isPoison)
      .where('due_at_ms', '<=', nowMs)
      .orderBy('due_at_ms')
      .limit(MAX_ROWS)
    const rows = await due.clearSelect().select('lane').execute()
    return [...new Set(rows.map(({ lane }) => lane))]
  }

  /**
   * Claims up to `limit` deliveries of a lane, those that have been due longest: either only poison deliveries, or only
   * others.
   */
  async claim(
    lane: string,
    { claim, limit, leaseMs, poison = false }: ClaimOptions,
    nowMs: number,
  ): Promise<ClaimedDelivery[]> {
    const rows = await this.#db.write((tx) =>
      tx
        .updateTable('deliveries')
        .set(({ eb }) => ({
          claim,
          due_at_ms: nowMs + leaseMs,
          attempts: eb('attempts', '+', 1),
          abandoned: sql`abandoned + case when claim is null then 0 else 1 end`,
        }))
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('deliveries')
            .select('id')
            .where('queue', '=', this.#name)
            .where(is('open'))
            .where('lane', '=', lane)
            .where(poison ? isPoison : isNotPoison)
            .where('due_at_ms', '<=', nowMs)
            .orderBy('due_at_ms')
            .orderBy('id')
            .limit(Math.min(limit, MAX_ROWS)),
        )
        .returning(['id', 'key', 'lane', 'subject', 'enqueued_at_ms', 'attempts', 'abandoned', 'progress'])
        .execute(),
    )
    return rows
      .map((row) => ({
        id: row.id,
        key: row.key,
        lane: row.lane,
        subject: row.subject,
        claim,
        enqueuedAtMs: row.enqueued_at_ms,
        attemptsMade: row.attempts - 1,
        abandoned: row.abandoned,
        progress: row.progress,
      }))
      .toSorted((one, other) => one.enqueuedAtMs - other.enqueuedAtMs || one.id - other.id)
  }

  /** Stores the progress and extends the lease. Returns `false` if the claim is lost. */
  async saveProgress({ id, claim }: ClaimedDelivery, progress: string, leaseEndMs: number): Promise<boolean> {
    const result = await this.#db.write((tx) =>
      tx
        .updateTable('deliveries')
        .set({ progress, due_at_ms: leaseEndMs })
        .where('id', '=', id)
        .where('claim', '=', claim)
        .where(is('open'))
        .executeTakeFirst(),
    )
    return result.numUpdatedRows > 0n
  }

  /**
   * Stores the progress in the caller's transaction, so that it is stored together with what it represents. Returns `false` if
   * it was stored before, or the claim is lost: the caller must then leave the rest to the other claim.
   */
  async reach(tx: Transaction<DeliveryTables>, { id, claim }: ClaimedDelivery, progress: string): Promise<boolean> {
    const result = await tx
      .updateTable('deliveries')
      .set({ progress })
      .where('id', '=', id)
      .where('claim', '=', claim)
      .where('progress', '<>', progress)
      .where(is('open'))
      .executeTakeFirst()
    return result.numUpdatedRows > 0n
  }

  /** Settles deliveries in one transaction. Returns those with a lost claim, which were not changed. */
  async settle(
    settled: readonly { readonly delivery: ClaimedDelivery; readonly settlement: Settlement }[],
    nowMs: number,
  ): Promise<ClaimedDelivery[]> {
    return this.#db.write(async (tx) => {
      const lost: ClaimedDelivery[] = []
      for (const { delivery, settlement } of settled) {
        const result = await tx
          .updateTable('deliveries')
          .set(settledColumns(settlement, delivery, nowMs))
          .where('id', '=', delivery.id)
          .where('claim', '=', delivery.claim)
          .where(is('open'))
          .executeTakeFirst()
        if (result.numUpdatedRows === 0n) lost.push(delivery)
      }
      return lost
    })
  }

  async counts(): Promise<QueueCounts> {
    const counted = async (state: DeliveryStatus['state']) => {
      const some = this.#of(this.#db.read).where(is(state)).clearSelect().select('id').limit(MAX_COUNT).as('some')
      const { count } = await this.#db.read
        .selectFrom(some)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    }
    return { open: await counted('open'), dead: await counted('dead') }
  }

  /** Lists deliveries in a state, the latest first: at most `limit` with an id below `beforeId`. */
  async list(
    state: DeliveryStatus['state'],
    { beforeId, limit }: { readonly beforeId?: number; readonly limit: number },
  ): Promise<DeliveryStatus[]> {
    const all = this.#of(this.#db.read).where(is(state))
    const some = beforeId === undefined ? all : all.where('id', '<', beforeId)
    const rows = await some.orderBy('id', 'desc').limit(Math.min(limit, MAX_ROWS)).execute()
    return rows.map(toDeliveryStatus)
  }

  async find(id: number): Promise<DeliveryStatus | undefined> {
    const row = await this.#of(this.#db.read).where('id', '=', id).executeTakeFirst()
    return row && toDeliveryStatus(row)
  }

  /**
   * Opens a dead delivery again, with its full time to expire and its stored progress. Returns `false`
   * if there is none with this id.
   */
  async replay(id: number, nowMs: number): Promise<boolean> {
    const result = await this.#db.write((tx) =>
      tx
        .updateTable('deliveries')
        .set({
          state: 'open',
          due_at_ms: nowMs,
          enqueued_at_ms: nowMs,
          attempts: 0,
          claim: null,
          settled_at_ms: null,
          abandoned: 0,
        })
        .where('queue', '=', this.#name)
        .where('id', '=', id)
        .where(is('dead'))
        .executeTakeFirst(),
    )
    return result.numUpdatedRows > 0n
  }

  /**
   * Deletes a delivery; a process that is sending it loses the claim. Returns `false` if there
   * is none with this id and state.
   */
  async drop(id: number, state: 'open' | 'dead' = 'dead'): Promise<boolean> {
    const result = await this.#db.write((tx) =>
      tx
        .deleteFrom('deliveries')
        .where('queue', '=', this.#name)
        .where('id', '=', id)
        .where(is(state))
        .executeTakeFirst(),
    )
    return result.numDeletedRows > 0n
  }

  /**
   * Deletes at most `limit` deliveries that were settled before `beforeMs`, and returns their
   * number. Their keys can be used again.
   */
  async prune(beforeMs: number, limit = MAX_ROWS, state: 'delivered' | 'dead' = 'delivered'): Promise<number> {
    const result = await this.#db.write((tx) =>
      tx
        .deleteFrom('deliveries')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('deliveries')
            .select('id')
            .where('queue', '=', this.#name)
            .where(is(state))
            .where('settled_at_ms', '<', beforeMs)
            .orderBy('settled_at_ms')
            .limit(limit),
        )
        .executeTakeFirst(),
    )
    return Number(result.numDeletedRows)
  }

  #of(db: Kysely<DeliveryTables>) {
    return db.selectFrom('deliveries').selectAll().where('queue', '=', this.#name)
  }
}
