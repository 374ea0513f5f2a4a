import { constants, createGunzip } from 'node:zlib'
import { networkOf } from '@penstock/runtime'
import type { AdmissionRequest, Reason, Verdict } from '../contract/admission.ts'
import { secretPrefixes } from '../secrets/token-format.ts'
import { ClientCounter, HOURS, hourOf } from './client-counter.ts'
import type { ClientStatsReport } from './client-stats.ts'
import { MinHeap } from './min-heap.ts'
import { MinuteRing } from './minute-ring.ts'
import { serviceNameIn } from './service-name.ts'

const MAX_CLIENTS = 1_000
const MAX_USER_AGENT_LENGTH = 64
const MAX_SAMPLE_BYTES = 64 * 1024
/**
 * The maximum number of bodies that are read per second, for all clients together. The limit prevents a flood of
 * clients from causing work for every request.
 */
const SAMPLES_PER_SECOND = 10

/**
 * Tracks the clients that enforcement would refuse. Uses fixed memory: a space-saving sketch of 1,000 clients.
 *
 * A client that makes more than a thousandth of such requests is always in the sketch. A new client displaces the one
 * with the smallest weight and inherits that weight but not its count, so counts are never too high.
 */
export class ClientSketch {
  readonly #minutes = new MinuteRing()
  readonly #byKey = new Map<string, ClientCounter>()
  readonly #heap = new MinHeap()
  readonly #capacity: number
  /** The networks of recent sources. Computing a network costs more than the rest of an update. */
  readonly #networks = new Map<string, string>()
  /** The counters of the sampled requests that wait for their body. */
  readonly #awaitingBody = new WeakMap<AdmissionRequest, ClientCounter>()
  #hour = -1
  #second = 0
  #samplesLeft = 0

  constructor(capacity = MAX_CLIENTS) {
    this.#capacity = capacity
  }

  /** Counts a request, in every mode. Returns whether its body should be passed to `recordBody`, to read its `service.name`. */
  recordVerdict(presented: AdmissionRequest, verdict: Verdict, nowMs: number): boolean {
    this.#minutes.add(nowMs, !verdict.allowed)
    if (verdict.allowed) return false
    this.#beginHour(hourOf(nowMs))
    const counter = this.#findOrAddCounter(presented, verdict.reason, verdict.token?.id, nowMs)
    counter.addRequest(nowMs)
    this.#heap.sink(counter)
    if (!counter.isSampleDue(nowMs) || !this.#maySample(nowMs)) return false
    counter.noteSample(nowMs)
    this.#awaitingBody.set(presented, counter)
    return true
  }

  /** Reads a sampled body after the reply was sent: at most its first 64 KiB, inflated or not. */
  recordBody(presented: AdmissionRequest, body: Uint8Array, contentEncoding: string): void {
    const counter = this.#awaitingBody.get(presented)
    if (counter === undefined) return
    this.#awaitingBody.delete(presented)
    const prefix = body.subarray(0, MAX_SAMPLE_BYTES)
    const readServiceName = (bytes: Uint8Array): void => {
      const name = serviceNameIn(bytes)
      if (name !== undefined) counter.addServiceName(name)
    }
    if (contentEncoding === '' || contentEncoding === 'identity') readServiceName(prefix)
    else if (contentEncoding === 'gzip') inflatePrefix(prefix, readServiceName)
  }

  report(): ClientStatsReport {
    const counters = this.#heap.values().map((counter) => counter.report())
    return {
      minutes: this.#minutes.report(),
      clients: counters.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count),
    }
  }

  #findOrAddCounter(
    presented: AdmissionRequest,
    reason: Reason,
    tokenId: string | undefined,
    nowMs: number,
  ): ClientCounter {
    const { source, signal, transport } = presented
    const network = this.#networkOf(source)
    const userAgent = userAgentFamily(presented.userAgent)
    const key = `${network} ${signal} ${transport} ${reason} ${tokenId ?? ''} ${userAgent}`
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const displaced = this.#heap.size < this.#capacity ? undefined : this.#heap.min
    const identity = { presented, network, userAgent, reason, tokenId }
    const counter = new ClientCounter(key, identity, nowMs, displaced?.weight ?? 0)
    if (displaced === undefined) {
      this.#heap.add(counter)
    } else {
      this.#byKey.delete(displaced.key)
      this.#heap.replaceMin(counter)
    }
    this.#byKey.set(key, counter)
    return counter
  }

  #networkOf(source: string): string {
    const known = this.#networks.get(source)
    if (known !== undefined) return known
    if (this.#networks.size >= this.#capacity) this.#networks.clear()
    const network = networkOf(source)
    this.#networks.set(source, network)
    return network
  }

  /** Resets the weights to the counts every hour, so that yesterday's heavy clients make room for today's. */
  #beginHour(hour: number): void {
    if (hour === this.#hour) return
    const passed = this.#hour < 0 ? 0 : Math.min(Math.max(hour - this.#hour, 1), HOURS)
    this.#hour = hour
    const counters = this.#heap.values()
    for (const counter of counters) {
      for (let past = 0; past < passed; past += 1) counter.beginHour(hour + HOURS - past)
      counter.weight = counter.count()
    }
    const seen = counters.filter(({ weight }) => weight > 0)
    for (const counter of counters) if (counter.weight === 0) this.#byKey.delete(counter.key)
    this.#heap.rebuild(seen)
  }

  #maySample(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#samplesLeft = SAMPLES_PER_SECOND
    }
    if (this.#samplesLeft === 0) return false
    this.#samplesLeft -= 1
    return true
  }
}

/** `OTel-OTLP-Exporter-Python/1.20 (linux)` → `OTel-OTLP-Exporter-Python`; '' if it contains one of our secrets. */
export function userAgentFamily(userAgent: string | undefined): string {
  if (userAgent === undefined) return ''
  let end = 0
  while (end < userAgent.length && end < MAX_USER_AGENT_LENGTH) {
    const character = userAgent.charCodeAt(end)
    if (character === 0x20 || character === 0x2f) break
    end += 1
  }
  const family = userAgent.slice(0, end)
  return family.includes(secretPrefixes.ingest) || family.includes(secretPrefixes.api_key) ? '' : family
}

/** Calls `use` with at most the first 64 KiB of the inflated data. `compressed` may itself be truncated. */
function inflatePrefix(compressed: Uint8Array, use: (bytes: Uint8Array) => void): void {
  const inflater = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH, chunkSize: MAX_SAMPLE_BYTES })
  inflater.once('data', (chunk: Buffer) => {
    inflater.destroy()
    use(chunk)
  })
  // The body is not gzip, so it contains no service name to read.
  inflater.once('error', () => {})
  inflater.end(compressed)
}
