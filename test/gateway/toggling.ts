import { setTimeout as sleep } from 'node:timers/promises'
import type { CountingSink } from './counting-sink.ts'
import type { ProcessGateway } from './process-gateway.ts'
import { SteadyLoad, type SteadyLoadResult } from './steady-load.ts'
import { until } from './until.ts'

export interface TogglingOptions {
  /** The rate of both loads together; half of the requests have a token. */
  readonly perSecond: number
  readonly toggles: number
  readonly everyMs: number
}

export interface TogglingResult {
  readonly withToken: SteadyLoadResult
  readonly without: SteadyLoadResult
  /** The number of requests without a token that started after a change was answered and ended before the next one began. */
  readonly checkedOff: number
  readonly checkedOn: number
  /** The answers among them that contradict the change. */
  readonly unexpectedAnswers: readonly string[]
  /** The duration of the slowest change. */
  readonly slowestChangeMs: number
}

/** The state of enforcement at a time. The number is even while no change is under way, and odd during one. */
interface Phase {
  readonly number: number
  readonly isEnforced: boolean
}

/** How many answers without a token are checked after each change, however slow the machine is. */
const CHECKED_PER_CHANGE = 15

/** Toggles enforcement under load. Every request that overlaps no change must be decided by the last one. */
export async function toggleUnderLoad(
  gateway: ProcessGateway,
  { perSecond, toggles, everyMs }: TogglingOptions,
): Promise<TogglingResult> {
  const { token } = await gateway.token()
  let phase: Phase = { number: 0, isEnforced: false }
  const unexpectedAnswers: string[] = []
  const checked = { on: 0, off: 0, sinceChange: 0 }
  const shared = { url: gateway.otlpUrl, perSecond: perSecond / 2, isRetrying: false }
  const withToken = new SteadyLoad({ ...shared, token })
  const without = new SteadyLoad<Phase>({
    ...shared,
    firstNumber: 10_000_000,
    mark: () => phase,
    onAnswer: (status, sent) => {
      if (sent.number !== phase.number || sent.number % 2 === 1) return
      checked[sent.isEnforced ? 'on' : 'off'] += 1
      checked.sinceChange += 1
      const expected = sent.isEnforced ? 401 : 200
      if (status !== expected)
        unexpectedAnswers.push(`${status} instead of ${expected} after change ${sent.number / 2}`)
    },
  })
  let slowestChangeMs = 0
  for (let toggle = 1; toggle <= toggles; toggle += 1) {
    await sleep(everyMs)
    await until('answers are checked after a change', () => checked.sinceChange >= CHECKED_PER_CHANGE)
    phase = { ...phase, number: phase.number + 1 }
    const startMs = performance.now()
    const isEnforced = toggle % 2 === 1
    await gateway.enforce(isEnforced)
    slowestChangeMs = Math.max(slowestChangeMs, performance.now() - startMs)
    phase = { number: phase.number + 1, isEnforced }
    checked.sinceChange = 0
  }
  await sleep(everyMs)
  await until('answers are checked after the last change', () => checked.sinceChange >= CHECKED_PER_CHANGE)
  return {
    withToken: await withToken.stop(),
    without: await without.stop(),
    checkedOff: checked.off,
    checkedOn: checked.on,
    unexpectedAnswers,
    slowestChangeMs,
  }
}

/** Returns a list of violations of what clients and operators may rely on. */
export function faultsOf({ withToken, without, unexpectedAnswers }: TogglingResult, sink: CountingSink): string[] {
  const accepted = [...withToken.acceptedIds, ...without.acceptedIds]
  const faults = unexpectedAnswers.slice(0, 5)
  for (const broken of [...withToken.broken, ...without.broken].slice(0, 5)) faults.push(`a request broke: ${broken}`)
  if (sink.aborted > 0) faults.push(`${sink.aborted} requests were aborted on their way upstream`)
  const strange = Object.keys({ ...withToken.answers }).filter((status) => status !== '200')
  if (strange.length > 0) faults.push(`requests with a valid token got ${strange.join(', ')}`)
  const others = Object.keys({ ...without.answers }).filter((status) => status !== '200' && status !== '401')
  if (others.length > 0) faults.push(`requests without a token got ${others.join(', ')}`)
  const missing = accepted.filter((id) => !sink.arrivals.has(id))
  if (missing.length > 0) faults.push(`${missing.length} accepted requests never arrived, ${missing[0]} the first`)
  if (sink.duplicates > 0) faults.push(`${sink.duplicates} requests arrived twice`)
  if (sink.arrivals.size !== accepted.length) {
    faults.push(`${sink.arrivals.size} requests arrived, and ${accepted.length} were accepted`)
  }
  return faults
}
