export interface Timing {
  /** The median of the rounds. */
  readonly wallMicros: number
  readonly cpuMicros: number
}

const ROUNDS = 5

/**
 * Times subjects in turns, so that a slow moment of the machine affects all of them: a warm-up, then five rounds of about
 * `roundMs` each. Returns medians, including garbage collection.
 */
export function timeInTurns<Name extends string>(
  subjects: Record<Name, () => unknown>,
  roundMs = 400,
): Record<Name, Timing> {
  const names = Object.keys(subjects) as Name[]
  const rounds = Object.fromEntries(names.map((name) => [name, [] as Timing[]])) as Record<Name, Timing[]>
  const callsOf = Object.fromEntries(names.map((name) => [name, callsWithin(subjects[name], roundMs)])) as Record<
    Name,
    number
  >
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) rounds[name].push(oneRound(subjects[name], callsOf[name]))
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        wallMicros: median(rounds[name].map((t) => t.wallMicros)),
        cpuMicros: median(rounds[name].map((t) => t.cpuMicros)),
      },
    ]),
  ) as Record<Name, Timing>
}

/** Returns the number of calls within a round. This is also the warm-up. */
function callsWithin(subject: () => unknown, roundMs: number): number {
  const start = performance.now()
  let calls = 0
  while (performance.now() - start < roundMs || calls < 3) {
    subject()
    calls++
  }
  return Math.max(1, Math.round((calls * roundMs) / (performance.now() - start)))
}

function oneRound(subject: () => unknown, calls: number): Timing {
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (let i = 0; i < calls; i++) subject()
  const wall = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { wallMicros: (wall * 1_000) / calls, cpuMicros: (user + system) / calls }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  '),
    )
  }
}
