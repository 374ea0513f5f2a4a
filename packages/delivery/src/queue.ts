import { type Db, RowInsertion } from '@penstock/db'
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { type DeliveriesTable, type DeliveryTables, POISON_AFTER_ABANDONED } from './deliveries.ts'

/** A delivery to enqueue. A second one with the same `key` is ignored. */
export interface NewDelivery {
  readonly key: string
  /**
   * The lane of the delivery. Deliveries to one receiver with one credential share a lane: they are sent, wait and fail
   * together.
   */
  readonly lane: string
  /** Identifies the content for the sender, which reads the content itself when the delivery is sent. */
  readonly subject: string
}

/**
 * A delivery that belongs to this claim until the lease ends. If it is not settled by
 * then, the next claim takes it over.
 */
export interface ClaimedDelivery extends NewDelivery {
  readonly id: number
  readonly claim: string
  readonly enqueuedAtMs: number
  /**
   * The number of claims before this one, including those that were never settled, because
   * their attempts may have arrived.
   */
  readonly attemptsMade: number
  /** The number of the latest consecutive claims that were never settled. */
  readonly abandoned: number
  /** The progress that the sender stored in an earlier attempt; '' if there is none. */
  readonly progress: string
}

export interface ClaimOptions {
  /** A unique id. */
  readonly claim: string
  readonly limit: number
  readonly leaseMs: number
  /** Claims poison deliveries instead of the others. */
  readonly poison?: boolean
}

/** The result of an attempt. */
export type Settlement =
  | { readonly kind: 'delivered'; readonly message: string }
  | { readonly kind: 'retry'; readonly atMs: number; readonly reason: string; readonly progress: string }
  | { readonly kind: 'dead'; readonly reason: string; readonly progress: string }
  /** Returned to the queue unsent; the attempt does not count. */
  | { readonly kind: 'unsent' }

/** An open or settled delivery, as shown to people. */
export interface DeliveryStatus extends NewDelivery {
  readonly id: number
  readonly state: 'open' | 'delivered' | 'dead'
  readonly enqueuedAtMs: number
  readonly dueAtMs: number
  readonly attemptsMade: number
  /** The reason of the last attempt's result; one line without secrets. */
  readonly reason: string
  readonly settledAtMs: number | undefined
}

export interface OpenLane {
  readonly lane: string
  /** When its first open delivery may be claimed. */
  readonly dueMs: number
}

/**
 * The number of deliveries by state. A value of 100,000 means at least as many, because counting
 * millions would block other work.
 */
export interface QueueCounts {
  readonly open: number
  readonly dead: number
}

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
      deliveries.map(({ key, lane, subject }) => ({
        queue: this.#name,
        key,
        lane,
        subject,
        state: 'open' as const,
        enqueued_at_ms: nowMs,
        due_at_ms: nowMs,
        attempts: 0,
        progress: '',
        reason: '',
      })),
    )
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
          .set(columnsOf(settlement, delivery, nowMs))
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
    return rows.map(statusOf)
  }

  async find(id: number): Promise<DeliveryStatus | undefined> {
    const row = await this.#of(this.#db.read).where('id', '=', id).executeTakeFirst()
    return row && statusOf(row)
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

/** A condition with literals, because SQLite uses a partial index only if the query repeats its condition literally. */
const is = (state: DeliveryStatus['state']) =>
  state === 'open' ? sql<boolean>`state = 'open'` : sql<boolean>`state <> 'open' and state = ${sql.lit(state)}`

const isPoison = sql<boolean>`abandoned >= ${sql.lit(POISON_AFTER_ABANDONED)}`
const isNotPoison = sql<boolean>`abandoned < ${sql.lit(POISON_AFTER_ABANDONED)}`

function columnsOf(settlement: Settlement, { attemptsMade, enqueuedAtMs }: ClaimedDelivery, nowMs: number) {
  const over = { claim: null, settled_at_ms: nowMs }
  switch (settlement.kind) {
    case 'delivered':
      return { ...over, state: 'delivered' as const, reason: settlement.message, progress: '' }
    case 'dead':
      return { ...over, state: 'dead' as const, reason: settlement.reason, progress: settlement.progress }
    case 'retry':
      return {
        claim: null,
        due_at_ms: settlement.atMs,
        reason: settlement.reason,
        progress: settlement.progress,
        abandoned: 0,
      }
    case 'unsent':
      return { claim: null, due_at_ms: enqueuedAtMs, attempts: attemptsMade }
  }
}

function statusOf(row: Selectable<DeliveriesTable>): DeliveryStatus {
  return {
    id: row.id,
    key: row.key,
    lane: row.lane,
    subject: row.subject,
    state: row.state,
    enqueuedAtMs: row.enqueued_at_ms,
    dueAtMs: row.due_at_ms,
    attemptsMade: row.attempts,
    reason: row.reason,
    settledAtMs: row.settled_at_ms ?? undefined,
  }
}
