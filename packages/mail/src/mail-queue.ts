import {
  type Core,
  type DomainEvent,
  type EventListener,
  findEmail,
  findNotification,
  findUser,
  insertNotification,
  type RecipientBatch,
  readContextOf,
  recipientsOf,
  settingOf,
  type Tx,
} from '@penstock/core'
import { isUnavailable } from '@penstock/db'
import {
  type Attempt,
  type ClaimedDelivery,
  DeliveryQueue,
  Drain,
  deliveriesIn,
  deliveriesWithin,
  drainErrors,
  type NewDelivery,
  type Outcome,
} from '@penstock/delivery'
import { type Log, type Random, RepeatingTask } from '@penstock/runtime'
import { confirmationMail } from './confirmation-mail.ts'
import type { Message } from './message.ts'
import { notificationSources } from './notification-events.ts'
import { notificationMail } from './notification-mail.ts'
import { Pacer } from './pacer.ts'
import { readNotified } from './read-notified.ts'
import { MAIL_MS } from './smtp-transport.ts'
import type { MailTransport } from './transport.ts'

export const MAIL_QUEUE = 'mail'
/** All mails go to one server, so that they wait together while it is away. */
const LANE = 'mail'
/** Notifications that are waiting for the search for their recipients. */
const EXPANSION_LANE = 'recipients'
const BATCH = 8
/** The limit of batches of mails in progress. */
const MAIL_BATCHES = 4
/** The limit of all batches in progress. Only half of the places are for lanes that have a batch in progress already. */
const CONCURRENCY = 2 * MAIL_BATCHES
/** Longer than a batch can take: its mails are sent at the same time. */
const LEASE_MS = MAIL_MS + 60_000
/** The pauses after pieces of work. Sending a mail takes time too, which is not measured, so the pause after composing it is longer. */
const paces = {
  search: { isUrgent: true, pause: { factor: 18, maxMs: 34 } },
  mail: { isUrgent: false, pause: { factor: 40, maxMs: 120 } },
} as const
const GIVE_UP_AFTER_MS = 3 * 86_400_000
const POLL_MS = 1_000
const PRUNE_EVERY_MS = 600_000
const KEPT_MS = 3_600_000
const PRUNED_ROWS = 1_000

interface MailQueueOptions {
  /** The core; its database has the tables of deliveries too. */
  readonly core: Core
  readonly transport: MailTransport
  readonly random: Random
  readonly newClaim: () => string
  readonly log: Log
  /** Returns whether the process answers requests at present. It then sends mails more slowly, in a small part of its time. */
  readonly answersRequests: () => boolean
}

const done: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }

/**
 * The mails of a core. A mail is enqueued in the transaction of the change that causes it, and composed when it is sent. It is
 * sent at least once: if the process ends before the answer of the server is stored, it is sent again.
 */
export class MailQueue {
  /** Enqueues the mails that events cause. */
  readonly listener: EventListener
  readonly #core: Core
  readonly #transport: MailTransport
  readonly #log: Log
  readonly #queue: DeliveryQueue
  readonly #drain: Drain
  readonly #stop = new AbortController()
  readonly #pacer: Pacer
  readonly #errors: ReturnType<typeof drainErrors>
  #running: Promise<void> | undefined
  #pruning: RepeatingTask | undefined

  constructor({ core, transport, random, newClaim, log, answersRequests }: MailQueueOptions) {
    this.#core = core
    this.#transport = transport
    this.#log = log
    this.#pacer = new Pacer(core.clock, answersRequests)
    this.#queue = new DeliveryQueue(deliveriesIn(core.db), MAIL_QUEUE)
    this.#errors = drainErrors({ log, clock: core.clock, work: 'mails' }, (err) =>
      log.error({ event: 'mail.failed', err }, 'mails could not be sent'),
    )
    this.#drain = new Drain({
      queue: this.#queue,
      send: (batch, signal) => this.#sendAll(batch, signal),
      clock: core.clock,
      random,
      newClaim,
      retry: { baseMs: 5_000, capMs: 900_000, giveUpAfterMs: GIVE_UP_AFTER_MS },
      circuit: { failuresToOpen: 5, baseMs: 1_000, capMs: 60_000 },
      leaseMs: LEASE_MS,
      batchSize: BATCH,
      concurrency: CONCURRENCY,
      laneConcurrency: MAIL_BATCHES,
      slowMs: MAIL_MS,
      pollMs: POLL_MS,
      onSettled: (settled) => {
        for (const { delivery, settlement } of settled) {
          if (settlement.kind !== 'dead') continue
          log.error(
            { event: 'mail.given_up', delivery: delivery.key, reason: settlement.reason },
            'a mail was given up',
          )
        }
      },
      ...this.#errors,
    })
    const enqueue = (tx: Tx, keys: readonly string[], lane: string) =>
      this.#queue.enqueue(deliveriesWithin(tx.db), deliveriesOf(keys, lane), tx.nowMs)
    this.listener = {
      types: new Set<DomainEvent['type']>([
        'email.added',
        ...(Object.keys(notificationSources) as DomainEvent['type'][]),
      ]),
      onEvent: async (tx, event) => {
        const { type, objectId, projectId } = event
        if (type === 'email.added') await enqueue(tx, [`confirmation.${objectId}`], LANE)
        else if (projectId !== undefined) {
          const drafts = await notificationSources[type]!(tx, { ...event, projectId })
          if (drafts.length === 0 || (await settingOf(tx.core, 'silent_mode_enabled'))) return
          const actorId = event.actorId ?? tx.actor?.id
          const keys: string[] = []
          for (const draft of drafts) {
            keys.push(`notification.${await insertNotification(tx, { ...draft, projectId, actorId })}`)
          }
          await enqueue(tx, keys, EXPANSION_LANE)
        }
        tx.afterCommit(this.#wake)
      },
    }
  }

  readonly #wake = async () => this.#drain.wake()

  /** Starts to send mails, including those that earlier processes have left. */
  start(): void {
    this.#running = this.#drain.run(this.#stop.signal)
    const pace = { everyMs: PRUNE_EVERY_MS, clock: this.#core.clock, log: this.#log }
    this.#pruning = new RepeatingTask('mail.prune_failed', pace, () => this.#prune())
  }

  /** Sends no further mails, and resolves when those in progress have ended. */
  async end(): Promise<void> {
    this.#stop.abort()
    this.#pacer.hurry()
    await this.#running
    await this.#pruning?.end()
    await this.#transport.close()
  }

  #sendAll(batch: readonly ClaimedDelivery[], signal: AbortSignal): Promise<(Attempt | undefined)[]> {
    return Promise.all(
      batch.map(async (delivery) => {
        if (signal.aborted) return undefined
        return delivery.lane === EXPANSION_LANE ? this.#expand(delivery, signal) : this.#attempt(delivery)
      }),
    )
  }

  /** Sends a mail. An error, such as that of a database that is away, must not affect the other mails of the batch. */
  async #attempt(delivery: ClaimedDelivery): Promise<Attempt> {
    try {
      const message = await this.#pacer.run(paces.mail, () => this.#compose(delivery))
      return { outcome: message === undefined ? done : await this.#transport.send(message), progress: '' }
    } catch (error) {
      return { outcome: this.#failed(delivery, error), progress: '' }
    }
  }

  #failed({ key }: ClaimedDelivery, error: unknown): Outcome {
    if (isUnavailable(error)) this.#errors.onError(error)
    else {
      this.#log.error(
        { event: 'mail.failed', delivery: key, err: error },
        'a mail could not be composed and is tried again',
      )
    }
    return { kind: 'retry', retryAfterMs: 0, reason: 'internal error', isLocal: true }
  }

  /**
   * Enqueues a mail for each recipient of a notification, in batches. The id of the last recipient is stored with each batch, and
   * the next process continues after it.
   */
  async #expand(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Attempt | undefined> {
    let { progress } = delivery
    try {
      const context = readContextOf(this.#core)
      const notification = await findNotification(context, Number(delivery.subject.split('.')[1]))
      const isSilent = await settingOf(this.#core, 'silent_mode_enabled')
      const notified = isSilent ? undefined : notification && (await readNotified(context, notification))
      if (notified === undefined) return { outcome: done, progress }
      const batches = recipientsOf(context, notification!, notified, Number(progress))
      for (;;) {
        const reached = await this.#pacer.run(paces.search, () => this.#enqueueNext(batches, delivery))
        if (reached === 'end') break
        // The lease has ended, and another process continues.
        if (reached === 'lost') return undefined
        progress = reached
        if (signal.aborted)
          return { outcome: { kind: 'retry', retryAfterMs: 0, reason: 'ended', isLocal: true }, progress }
      }
      this.#drain.wake()
      return { outcome: done, progress }
    } catch (error) {
      return { outcome: this.#failed(delivery, error), progress }
    }
  }

  /** Enqueues a mail for each recipient of the next batch, and returns how far the search has come. */
  async #enqueueNext(
    batches: AsyncGenerator<RecipientBatch, undefined>,
    delivery: ClaimedDelivery,
  ): Promise<string | 'end' | 'lost'> {
    const { value: batch } = await batches.next()
    if (batch === undefined) return 'end'
    const keys = batch.userIds.map((userId) => `${delivery.key}.${userId}`)
    const progress = String(batch.end)
    const isOurs = await this.#core.db.write(async (db) => {
      const tx = deliveriesWithin(db)
      if (!(await this.#queue.reach(tx, delivery, progress))) return false
      await this.#queue.enqueue(tx, deliveriesOf(keys, LANE), this.#core.clock.nowMs())
      return true
    })
    return isOurs ? progress : 'lost'
  }

  /** Returns the mail; `undefined` if it has become pointless. */
  async #compose({ key, subject }: ClaimedDelivery): Promise<Message | undefined> {
    if (await settingOf(this.#core, 'silent_mode_enabled')) return undefined
    const [what, id, userId] = subject.split('.')
    const context = readContextOf(this.#core)
    if (what === 'confirmation') {
      const email = await findEmail(context, Number(id))
      if (email === undefined || email.confirmedAtMs !== undefined) return undefined
      const isActive = (await findUser(context, email.userId))?.state === 'active'
      return isActive ? confirmationMail(this.#core, email, key) : undefined
    }
    const notification = await findNotification(context, Number(id))
    return notification && notificationMail(this.#core, notification, { userId: Number(userId), key })
  }

  async #prune(): Promise<void> {
    const beforeMs = this.#core.clock.nowMs() - KEPT_MS
    for (const state of ['delivered', 'dead'] as const) {
      while (!this.#stop.signal.aborted && (await this.#queue.prune(beforeMs, PRUNED_ROWS, state)) === PRUNED_ROWS);
    }
  }
}

const deliveriesOf = (keys: readonly string[], lane: string): NewDelivery[] =>
  keys.map((key) => ({ key, lane, subject: key }))
