import { setTimeout as sleep } from 'node:timers/promises'
import type { CountingSink } from './counting-sink.ts'
import type { ProcessGateway } from './process-gateway.ts'
import { SteadyLoad, type SteadyLoadResult } from './steady-load.ts'

export interface TogglingOptions {
  /** Of both loads together; half of it brings a token. */
  readonly perSecond: number
  readonly toggles: number
  readonly everyMs: number
}

export interface TogglingResult {
  readonly withToken: SteadyLoadResult
  readonly without: SteadyLoadResult
  /** Requests without token that went out after a change had been answered, and had their answer before the next began. */
  readonly judgedOff: number
  readonly judgedOn: number
  /** Those of them that were answered as if the change had not been made. */
  readonly disobedient: readonly string[]
  /** How long the calls that made the changes took. */
  readonly slowestChangeMs: number
}

/** A moment of the story: even while nothing is being changed, odd while a change has begun and is not answered. */
interface Moment {
  readonly number: number
  readonly isEnforced: boolean
}

/** Switches enforcement on and off under load; every request that no change overlaps must obey the last one. */
export async function toggleUnderLoad(
  gateway: ProcessGateway,
  { perSecond, toggles, everyMs }: TogglingOptions,
): Promise<TogglingResult> {
  const { token } = await gateway.token()
  let now: Moment = { number: 0, isEnforced: false }
  const disobedient: string[] = []
  const judged = { on: 0, off: 0 }
  const shared = { url: gateway.otlpUrl, perSecond: perSecond / 2, isRetrying: false }
  const withToken = new SteadyLoad({ ...shared, token })
  const without = new SteadyLoad<Moment>({
    ...shared,
    firstNumber: 10_000_000,
    mark: () => now,
    onAnswer: (status, sent) => {
      if (sent.number !== now.number || sent.number % 2 === 1) return
      judged[sent.isEnforced ? 'on' : 'off'] += 1
      const expected = sent.isEnforced ? 401 : 200
      if (status !== expected) disobedient.push(`${status} instead of ${expected} after change ${sent.number / 2}`)
    },
  })
  let slowestChangeMs = 0
  for (let toggle = 1; toggle <= toggles; toggle += 1) {
    await sleep(everyMs)
    now = { ...now, number: now.number + 1 }
    const startMs = performance.now()
    const isEnforced = toggle % 2 === 1
    await gateway.enforce(isEnforced)
    slowestChangeMs = Math.max(slowestChangeMs, performance.now() - startMs)
    now = { number: now.number + 1, isEnforced }
  }
  await sleep(everyMs)
  return {
    withToken: await withToken.stop(),
    without: await without.stop(),
    judgedOff: judged.off,
    judgedOn: judged.on,
    disobedient,
    slowestChangeMs,
  }
}

/** What everyone may rely on, as a list of what is wrong. */
export function faultsOf({ withToken, without, disobedient }: TogglingResult, sink: CountingSink): string[] {
  const accepted = [...withToken.acceptedIds, ...without.acceptedIds]
  const faults = disobedient.slice(0, 5)
  for (const broken of [...withToken.broken, ...without.broken].slice(0, 5)) faults.push(`a request broke: ${broken}`)
  if (sink.aborted > 0) faults.push(`${sink.aborted} requests were aborted on their way upstream`)
  const strange = Object.keys({ ...withToken.answers }).filter((status) => status !== '200')
  if (strange.length > 0) faults.push(`a valid token was answered ${strange.join(', ')}`)
  const others = Object.keys({ ...without.answers }).filter((status) => status !== '200' && status !== '401')
  if (others.length > 0) faults.push(`without a token the answer was ${others.join(', ')}`)
  const missing = accepted.filter((id) => !sink.arrivals.has(id))
  if (missing.length > 0) faults.push(`${missing.length} accepted requests never arrived, ${missing[0]} the first`)
  if (sink.duplicates > 0) faults.push(`${sink.duplicates} requests arrived twice`)
  if (sink.arrivals.size !== accepted.length) {
    faults.push(`${sink.arrivals.size} requests arrived, and ${accepted.length} were accepted`)
  }
  return faults
}
