import { type Db, RowInsertion } from '@penstock/db'
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { type DeliveriesTable, type DeliveryTables, POISON_AFTER_ABANDONED } from './deliveries.ts'

/** What is to be delivered, once: a second one of the same `key` changes nothing. */
export interface NewDelivery {
  readonly key: string
  /** Those of one lane go to one receiver with one credential: they wait, fail and are sent together. */
  readonly lane: string
  /** What the sender needs to find what is to be sent; not the thing itself, which is read when its turn comes. */
  readonly subject: string
}

/** A delivery that is ours until the lease ends; who has not settled it by then has lost it to the next claim. */
export interface ClaimedDelivery extends NewDelivery {
  readonly id: number
  readonly claim: string
  readonly enqueuedAtMs: number
  /** Claims before this one. One that was never settled counts as well: its attempt may have arrived. */
  readonly attemptsMade: number
  /** Of those, the latest ones that were never settled. */
  readonly abandoned: number
  /** What the sender has kept of an earlier attempt; '' at first. */
  readonly progress: string
}

export interface ClaimOptions {
  readonly claim: string
  readonly limit: number
  readonly leaseMs: number
  readonly poison?: boolean
}

/** How an attempt ended. */
export type Settlement =
  | { readonly kind: 'delivered'; readonly message: string }
  | { readonly kind: 'retry'; readonly atMs: number; readonly reason: string; readonly progress: string }
  | { readonly kind: 'dead'; readonly reason: string; readonly progress: string }
  /** Given back unsent: the attempt does not count. */
  | { readonly kind: 'unsent' }

/** Finished or not, as people are shown it. */
export interface DeliveryStatus extends NewDelivery {
  readonly id: number
  readonly state: 'open' | 'delivered' | 'dead'
  readonly enqueuedAtMs: number
  readonly dueAtMs: number
  readonly attemptsMade: number
  /** Of the last attempt; one line, without secrets. */
  readonly reason: string
  readonly settledAtMs: number | undefined
}

export interface OpenLane {
  readonly lane: string
  /** When the first of its open ones may be claimed. */
  readonly dueMs: number
}

/** Up to 100,000 each, which then means as many or more: counting a million would hold everybody up. */
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

/** Statements stay within what PostgreSQL and SQLite take as parameters. */
const MAX_ROWS = 1_000
const COUNTED = 100_000

/**
 * The deliveries of one kind, in a table that several processes share. At least once: whatever has been enqueued by a
 * transaction that was committed is claimed again and again until somebody settles it.
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

  /** In the caller's transaction, so that what is to be delivered and the reason for it are kept together or not at all. */
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
   * Lanes with something open, in the order of their names, `limit` of those after `after`; of each when its first one falls due,
   * leases included. Steps from lane to lane over the index: one in which a million wait costs as much as one with one.
   */
  async listOpenLanes({ limit, after = '' }: { readonly limit: number; readonly after?: string }): Promise<OpenLane[]> {
    const first = (what: RawBuilder<unknown>, whose: RawBuilder<unknown>) =>
      sql`select min(${what}) from deliveries where queue = ${this.#name} and state = 'open' and ${whose}`
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
   * Lanes of due deliveries that may be what ended the processes that had them; the longest due first. They are left out of
   * ordinary claims: whatever was sent beside one would be abandoned with it.
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

  /** The `limit` that have been due longest, of the poison or of the others. `claim`: unlike every other one. */
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

  /** Keeps what has been achieved so far, and the claim for so much longer. `false`: it has been lost. */
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

  /** All in one transaction. Returns those that were no longer ours: their claim had run out, and nothing was changed. */
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
      const some = this.#of(this.#db.read).where(is(state)).clearSelect().select('id').limit(COUNTED).as('some')
      const { count } = await this.#db.read
        .selectFrom(some)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    }
    return { open: await counted('open'), dead: await counted('dead') }
  }

  /** The latest first, `limit` of those below `beforeId`. */
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

  /** A dead one is tried again, with all its time before it and what it has achieved. `false`: there is no such dead one. */
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

  /** Forgets one; whoever is sending it loses the claim. `false`: there is none in this state. */
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

  /** Forgets what was delivered, or dead, before `beforeMs`, at most `limit` at once. Their keys are free again. */
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

/** Written out: SQLite uses an index over some of the rows only where it reads that these are meant. */
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
