import { type WrkRequest, wrkRequests } from '../gateway/wrk.ts'
import { median, printTable } from '../measure.ts'

export interface Call {
  readonly name: string
  /** Returns the request of the next round. */
  request(): WrkRequest
  /** Returns the CPU seconds of the answering process. */
  cpuSeconds(): number
}

export interface Measured {
  readonly name: string
  /** The figures of each round per request. */
  readonly cpuMicros: readonly number[]
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failures: number
}

export interface Rounds {
  readonly rounds: number
  readonly seconds: number
}

const CONNECTIONS = 16
/** The number of warm-up requests, after which the compiler has optimised the hot code. */
const WARM_REQUESTS = 10_000
const WARM_UP_SECONDS = 2
const LONGEST_WARM_UP_MS = 40_000
const LONGEST_ROUND_SECONDS = 32

/** Measures calls in turns after a warm-up, so that a slow moment of the machine affects all of them. Returns medians, except for `cpuMicros`. */
export async function measuredInTurns<Name extends string>(
  calls: Readonly<Record<Name, Call>>,
  { rounds, seconds }: Rounds,
): Promise<Record<Name, Measured>> {
  const all = Object.entries<Call>(calls)
  const results = all.map(([key, call]) => ({ key, call, rounds: [] as (Round & { cpuMicros: number })[] }))
  for (const [, call] of all) await warmUp(call)
  for (let round = 0; round < rounds; round += 1) {
    for (const { call, rounds } of results) {
      const before = call.cpuSeconds()
      const result = await answeredRequests(call, seconds)
      rounds.push({ ...result, cpuMicros: ((call.cpuSeconds() - before) * 1e6) / result.requests })
    }
  }
  return Object.fromEntries(
    results.map(({ key, call, rounds }) => [
      key,
      {
        name: call.name,
        cpuMicros: rounds.map(({ cpuMicros }) => cpuMicros),
        perSecond: median(rounds.map(({ perSecond }) => perSecond)),
        p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
        p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
        failures: rounds.reduce((sum, { failures }) => sum + failures, 0),
      },
    ]),
  ) as Readonly<Record<string, Measured>> as Record<Name, Measured>
}

/**
 * Repeats a round with twice the time while none of its requests is answered, as on a machine that is busy otherwise.
 *
 * @throws Error if most answers are refusals, which would be measured instead of what was asked for
 */
async function answeredRequests(call: Call, seconds: number): Promise<Round> {
  const result = await wrkRequests({ ...call.request(), connections: CONNECTIONS }, seconds)
  if (result.requests === 0) {
    if (seconds >= LONGEST_ROUND_SECONDS) throw new Error(`${call.name}: no request was answered in ${seconds} s`)
    return answeredRequests(call, seconds * 2)
  }
  if (result.failures * 2 > result.requests)
    throw new Error(`${call.name}: ${result.failures} of ${result.requests} requests failed`)
  return result
}

async function warmUp(call: Call): Promise<void> {
  const endsMs = performance.now() + LONGEST_WARM_UP_MS
  for (let answered = 0; answered < WARM_REQUESTS && performance.now() < endsMs; ) {
    const { requests } = await wrkRequests({ ...call.request(), connections: CONNECTIONS }, WARM_UP_SECONDS)
    answered += requests
  }
}

type Round = Awaited<ReturnType<typeof wrkRequests>>

/** Returns the median of the ratios of consecutive rounds. */
export const ratioOf = (one: Measured, other: Measured): number =>
  median(one.cpuMicros.map((micros, round) => micros / other.cpuMicros[round]!))

export function printMeasured(title: string, results: Readonly<Record<string, Measured>>): void {
  console.log(`\n${title}, ${CONNECTIONS} connections: medians`)
  printTable([
    ['', 'CPU µs/request', 'min', 'max', 'requests/s', 'p50 ms', 'p99 ms', 'failures'],
    ...Object.values(results).map(({ name, cpuMicros, perSecond, p50Ms, p99Ms, failures }) => [
      name,
      median(cpuMicros).toFixed(0),
      Math.min(...cpuMicros).toFixed(0),
      Math.max(...cpuMicros).toFixed(0),
      perSecond.toFixed(0),
      p50Ms.toFixed(2),
      p99Ms.toFixed(2),
      String(failures),
    ]),
  ])
}
