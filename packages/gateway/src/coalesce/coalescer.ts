import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PartialSuccess, Signal } from '@penstock/otlp'
import type { Clock, Random } from '@penstock/runtime'
import type { Answer, Refused } from '../contract/answer.ts'
import type { CoalesceSettings } from '../contract/coalesce-settings.ts'
import type { ExportCall } from '../contract/export-call.ts'
import { clientGone, gatewayRefusal } from '../contract/gateway-answers.ts'
import type { Upstream, UpstreamRequest } from '../contract/upstream.ts'
import { upstreamDeadlineMs } from '../contract/upstream-deadline.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import { Alarm } from './alarm.ts'
import { Batch } from './batch.ts'
import { batchAction } from './batch-outcome.ts'
import { CoalesceMetrics } from './coalesce-metrics.ts'
import { countRecords } from './framing.ts'
import { inflate } from './inflate.ts'
import { countItems, sharesOf } from './item-shares.ts'
import type { Lane } from './lane.ts'
import { Lanes } from './lanes.ts'
import { Member } from './member.ts'

/** How long a lane sends each body alone after a partial success that could not be attributed to single bodies. */
const PAUSE_MS = 60_000
/** The highest number of unanswered bodies. Further bodies are refused as overload, which clients retry. */
const MAX_BODIES = 65_536
/** The smallest batch after which its senders are expected to send again. Smaller ones occur by chance under little load. */
const MIN_EXPECTED = 4
/** How long a lane waits for the senders of an accepted batch. */
const EXPECTED_WITHIN_MS = 2

interface CoalescerOptions {
  readonly settings: CoalesceSettings
  readonly clock: Clock
  readonly random: Random
  readonly metrics: MetricRegistry
}

/**
 * Joins bodies of one lane into batches. If no request of the lane is in flight, a body is sent immediately. Otherwise
 * bodies wait until an answer arrives, the window ends or the batch is full, and are then sent together. Without load
 * there is no delay.
 *
 * Exporters send again as soon as they have an answer. After a larger batch was accepted, the lane therefore waits up to
 * two milliseconds for as many bodies as were unanswered. Otherwise the first of them would be sent alone, and the others
 * would be divided by the times of the answers.
 *
 *     submit ──► lane is idle ──────────────────────────────────► batch of 1 ──► upstream
 *        │                                                                          │
 *        ├─────► cannot be joined ───────► alone                  batch of n ──► upstream
 *        └─────► waits in its lane ── answer · window · full ──────►┘               │
 *                                                                                   ▼
 *                                                 each body gets its answer, or is sent again in halves
 */
export class Coalescer {
  readonly #settings: CoalesceSettings
  readonly #clock: Clock
  readonly #random: Random
  readonly #metrics: CoalesceMetrics
  readonly #lanes: Lanes
  /**
   * The alarm for the end of windows. Deadlines have their own alarm: windows are short and deadlines are long, so the
   * two would keep rescheduling a shared one.
   */
  readonly #windowAlarm: Alarm
  readonly #deadlineAlarm: Alarm
  /** Lanes that have waiting bodies. */
  readonly #collecting = new Set<Lane>()
  /** Batches of two or more in flight. Their members have different deadlines. */
  readonly #inFlightBatches = new Set<Batch>()
  #bodies = 0
  #onIdle: (() => void)[] = []

  constructor({ settings, clock, random, metrics }: CoalescerOptions) {
    this.#settings = settings
    this.#clock = clock
    this.#random = random
    this.#metrics = new CoalesceMetrics(metrics)
    this.#lanes = new Lanes(settings.maxBytes)
    this.#windowAlarm = new Alarm(clock, () => this.#releaseDue())
    this.#deadlineAlarm = new Alarm(clock, () => this.#expire())
  }

  /**
   * Returns whether a body of `wireBytes` may be joined with others: its token is verified, it is protobuf and not
   * profiles, its content encoding can be read, and it is not too long.
   */
  accepts({ admitted, encoding, signal, contentEncoding }: ExportCall, wireBytes: number): boolean {
    return (
      admitted.auth === 'verified' &&
      admitted.token !== undefined &&
      encoding === 'protobuf' &&
      signal !== 'profiles' &&
      wireBytes <= this.#maxWireBytes(contentEncoding)
    )
  }

  /**
   * Returns the longest wire length that is worth joining in this content encoding; -1 if the encoding cannot be read.
   */
  #maxWireBytes(contentEncoding: string): number {
    if (contentEncoding === '' || contentEncoding === 'identity') return this.#settings.maxBodyBytes
    return contentEncoding === 'gzip' ? this.#settings.maxGzipBytes : -1
  }

  /** Sends the body, alone or joined with others. `body` is the body as it arrived, in its content encoding. */
  submit(call: ExportCall, body: Uint8Array, upstream: Upstream): Promise<Answer> {
    if (this.#bodies >= MAX_BODIES) {
      const refusal = { kind: 'overloaded', message: 'too many requests are under way' } as const
      return Promise.resolve(gatewayRefusal(refusal, 'throttled', this.#random))
    }
    this.#bodies += 1
    return new Promise((resolve) => {
      const nowMs = this.#clock.monotonicMs()
      this.#enter(new Member(call, body, upstreamDeadlineMs(call, nowMs), resolve, this.#onSettled), upstream, nowMs)
    })
  }

  /** Sends all waiting bodies, and resolves when every body has been answered. */
  flush(): Promise<void> {
    for (const lane of this.#collecting) this.#release(lane)
    if (this.#bodies === 0) {
      this.#stopAlarms()
      return Promise.resolve()
    }
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  readonly #onSettled = (): void => {
    this.#bodies -= 1
    if (this.#bodies > 0 || this.#onIdle.length === 0) return
    const waiters = this.#onIdle
    this.#onIdle = []
    this.#stopAlarms()
    for (const resolve of waiters) resolve()
  }

  #enter(member: Member, upstream: Upstream, nowMs: number): void {
    const { call, body } = member
    const lane = this.accepts(call, body.length) ? this.#lanes.laneOf(call, upstream, nowMs) : undefined
    if (lane === undefined) {
      this.#send(new Batch(upstream, undefined, [member]))
    } else if (lane.heldUntilMs > nowMs) {
      member.settle(this.#heldRefusal(lane, nowMs))
    } else if (lane.pausedUntilMs > nowMs) {
      this.#sendAlone(member, lane)
    } else if (lane.isReady(nowMs)) {
      this.#send(new Batch(lane.upstream, lane, [member]))
    } else {
      this.#join(member, lane, nowMs)
    }
  }

  /** Adds the body to the waiting batch if it consists of records. A body that is forwarded alone is not inspected. */
  #join(member: Member, lane: Lane, nowMs: number): void {
    const { body, call } = member
    const identity = call.contentEncoding === 'gzip' ? inflate(body, this.#settings.maxBodyBytes) : body
    const capBytes = lane.capBytes(nowMs)
    if (identity === undefined || identity.length > capBytes || countRecords(identity) < 0) {
      this.#sendAlone(member, lane)
      return
    }
    member.records = identity
    if (lane.waitingBytes + identity.length > capBytes) this.#release(lane)
    lane.add(member, identity.length)
    if (lane.waiting.length >= this.#settings.maxBodies || lane.isReady(nowMs)) {
      this.#release(lane)
    } else if (lane.waiting.length === 1) {
      this.#collecting.add(lane)
      this.#sendBy(lane.inFlight === 0 ? lane.expectedUntilMs : nowMs + this.#settings.windowMs, lane)
    }
  }

  #sendBy(dueMs: number, lane: Lane): void {
    lane.dueMs = Math.min(lane.dueMs, dueMs)
    this.#windowAlarm.wakeBy(lane.dueMs)
  }

  #sendAlone(member: Member, lane: Lane): void {
    this.#send(new Batch(lane.upstream, undefined, [member]))
  }

  /** Sends the waiting bodies: as one batch, or each alone while the lane is paused. */
  #release(lane: Lane): void {
    this.#collecting.delete(lane)
    const members = lane.take()
    if (members.length === 0) return
    const nowMs = this.#clock.monotonicMs()
    if (lane.heldUntilMs > nowMs) {
      for (const member of members) member.settle(this.#heldRefusal(lane, nowMs))
    } else if (lane.pausedUntilMs > nowMs) {
      for (const member of members) this.#sendAlone(member, lane)
    } else {
      this.#send(new Batch(lane.upstream, lane, members))
    }
  }

  #send(batch: Batch): void {
    const { lane, members } = batch
    if (members.every((member) => member.isSettled)) return
    if (lane !== undefined) lane.inFlight += 1
    this.#metrics.sent(members.length)
    if (members.length === 1) {
      this.#request(batch, members[0]!.body, members[0]!.call.contentEncoding)
      return
    }
    this.#inFlightBatches.add(batch)
    this.#deadlineAlarm.wakeBy(batch.firstDeadlineMs)
    const records = Buffer.concat(members.map((member) => member.records!))
    if (this.#settings.compression === 'identity') {
      this.#request(batch, records, '')
      return
    }
    compress(records, { level: 1 }).then(
      (packed) => this.#request(batch, packed, 'gzip'),
      () => this.#answered(batch, this.#internalError()),
    )
  }

  #request(batch: Batch, body: Uint8Array, contentEncoding: string): void {
    if (batch.isSettled) {
      this.#answered(batch, clientGone)
      return
    }
    const { call } = batch.members[0]!
    const request: UpstreamRequest = {
      signal: call.signal,
      encoding: call.encoding,
      contentEncoding: contentEncoding === 'identity' ? '' : contentEncoding,
      headers: call.headers.concat(call.trusted),
      body,
      contentLength: body.length,
      deadlineMs: batch.lastDeadlineMs,
      onAbortable: (abort) => batch.onAbortable(abort),
    }
    batch.upstream.send(request).then(
      (answer) => this.#answered(batch, answer),
      () => this.#answered(batch, this.#internalError()),
    )
  }

  #answered(batch: Batch, answer: Answer): void {
    const { lane, members } = batch
    batch.markAnswered()
    if (members.length === 1) {
      members[0]!.settle(answer)
    } else {
      this.#inFlightBatches.delete(batch)
      this.#applyAction(batch, answer)
    }
    if (lane === undefined) return
    lane.inFlight -= 1
    if (answer.kind === 'accepted' && members.length >= MIN_EXPECTED) this.#expect(members.length, lane)
    else if (lane.waiting.length > 0) this.#release(lane)
  }

  /** Lets the waiting bodies wait for those that the senders of a batch of `answered` bodies will send next. */
  #expect(answered: number, lane: Lane): void {
    const nowMs = this.#clock.monotonicMs()
    const withinMs = Math.min(EXPECTED_WITHIN_MS, this.#settings.windowMs)
    lane.expect(Math.min(lane.waiting.length + answered, this.#settings.maxBodies), nowMs + withinMs)
    if (lane.waiting.length === 0) return
    if (lane.isReady(nowMs)) this.#release(lane)
    else this.#sendBy(lane.expectedUntilMs, lane)
  }

  #applyAction(batch: Batch, answer: Answer): void {
    const nowMs = this.#clock.monotonicMs()
    const lane = batch.lane!
    const action = batchAction(answer, this.#clock.nowMs())
    switch (action.do) {
      case 'answer':
        for (const member of batch.members) member.settle(action.answer)
        return
      case 'hold':
        lane.heldUntilMs = nowMs + action.holdMs
        for (const member of batch.members) member.settle(this.#withJitter(action.answer))
        return
      case 'share':
        lane.pausedUntilMs = nowMs + PAUSE_MS
        settleWithShares(batch.members, action.partialSuccess)
        return
      case 'split':
        this.#metrics.split(action.cause)
        if (action.cause === 'too_large') lane.lowerCap(batch.bytes, nowMs)
        // A reply that was too long to read also becomes a 500; upstream may then have accepted the batch (S4).
        else if (answer.kind === 'refused' && answer.httpStatus === 500)
          this.#metrics.countPossibleDuplicates(batch.members.length)
        this.#split(batch, lane, nowMs)
        return
    }
  }

  #split({ members }: Batch, lane: Lane, nowMs: number): void {
    const left = members.filter((member) => !member.isSettled)
    if (lane.heldUntilMs > nowMs) {
      for (const member of left) member.settle(this.#heldRefusal(lane, nowMs))
      return
    }
    const middle = Math.ceil(left.length / 2)
    for (const half of [left.slice(0, middle), left.slice(middle)]) {
      if (half.length > 0) this.#send(new Batch(lane.upstream, lane, half))
    }
  }

  #releaseDue(): void {
    const nowMs = this.#clock.monotonicMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const lane of this.#collecting) {
      if (lane.dueMs <= nowMs) this.#release(lane)
      else nextMs = Math.min(nextMs, lane.dueMs)
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#windowAlarm.wakeBy(nextMs)
  }

  #expire(): void {
    const nowMs = this.#clock.monotonicMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const batch of this.#inFlightBatches) nextMs = Math.min(nextMs, batch.expire(nowMs))
    if (nextMs < Number.POSITIVE_INFINITY) this.#deadlineAlarm.wakeBy(nextMs)
  }

  #stopAlarms(): void {
    this.#windowAlarm.off()
    this.#deadlineAlarm.off()
  }

  /**
   * Adds up to two seconds to the wait, so that clients do not all return at once (P-13). A wait that is given as a
   * date is not changed.
   */
  #withJitter(answer: Refused): Refused {
    const { retryAfter } = answer
    if (typeof retryAfter !== 'number') return answer
    return { ...answer, retryAfter: retryAfter + Math.floor(this.#random() * 3) }
  }

  #heldRefusal(lane: Lane, nowMs: number): Refused {
    const retryAfterSeconds = Math.max(1, Math.ceil((lane.heldUntilMs - nowMs) / 1_000))
    const message = 'the upstream throttles requests'
    return gatewayRefusal({ kind: 'overloaded', message, retryAfterSeconds }, 'throttled')
  }

  #internalError(): Refused {
    return gatewayRefusal({ kind: 'internal', message: 'internal error of the gateway' }, 'unknown', this.#random)
  }
}

const compress = promisify(gzip)

/** Answers each member with its estimated share. All members belong to one token, so the sum for the token is exact. */
function settleWithShares(members: readonly Member[], { rejected, message }: PartialSuccess): void {
  const counts = members.map(({ call, records }) => countItems(call.signal as Signal, records!))
  const shares = sharesOf(rejected, counts)
  for (const [index, member] of members.entries()) {
    const partialSuccess = { rejected: shares[index]!, message: `estimated, coalesced: ${message}` }
    member.settle({ kind: 'accepted', partialSuccess, body: undefined })
  }
}
