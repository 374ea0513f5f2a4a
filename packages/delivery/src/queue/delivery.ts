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
  /** When it may be sent; absent: at once. */
  readonly dueAtMs?: number | undefined
}

/**
 * A delivery that belongs to this claim until the lease ends. If it is not settled by
 * then, the next claim takes it over.
 */
export interface ClaimedDelivery extends Omit<NewDelivery, 'dueAtMs'> {
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
export interface DeliveryStatus extends Omit<NewDelivery, 'dueAtMs'> {
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
