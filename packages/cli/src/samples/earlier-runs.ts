import type { Chance } from './chance.ts'
import type { Fate, Run } from './runs.ts'
import { HOUR_MS } from './sample-commits.ts'

/** Runs that repeat on each working day, or on each day. Their commits are not in the sample repositories. */
interface Routine extends Pick<Run, 'project' | 'recipe' | 'source'> {
  readonly by: readonly string[]
  /** The hours of the day, in UTC. */
  readonly hours: readonly number[]
  readonly isDaily?: true
  /** Whether the routine goes on in the last two days. */
  readonly isUntilNow?: true
  readonly titles: readonly string[]
}

const DAY_MS = 24 * HOUR_MS
/** How many days the earlier runs go back, counted from the end of the samples. */
const DAYS = 14
/** The other runs of the last two days are in the table of `runs.ts`. */
const RECENT_HOURS = 48
/** Before the end, so that all jobs have finished. */
const LAST_START_HOURS = 1
const SUNDAY = 0
const SATURDAY = 6

const routines: readonly Routine[] = [
  {
    ...{ project: 'mossgate/shop/storefront', recipe: 'storefront', source: 'push' },
    by: ['priya', 'ines'],
    hours: [7.4, 8.9, 10.2, 11.7, 13.5, 14.8, 16.1],
    // On weekends too, so that the last days of any two weeks have enough runs to show the drift.
    isDaily: true,
    titles: ['Sort lockers by walking time', 'Larger buttons', 'Show the opening hours twice', 'Fewer map tiles'],
  },
  {
    ...{ project: 'mossgate/shop/storefront', recipe: 'storefront nightly', source: 'schedule' },
    by: ['ines'],
    hours: [1],
    isDaily: true,
    titles: ['Every screen'],
  },
  {
    ...{ project: 'mossgate/shop/checkout', recipe: 'checkout', source: 'push' },
    by: ['priya', 'ines'],
    hours: [7.9, 9.3, 11.1, 12.6, 14.2, 15.4, 16.8],
    titles: ['Receipts in two languages', 'Round later', 'Vouchers expire at noon', 'Ask the bank once'],
  },
  {
    ...{ project: 'mossgate/shop/checkout', recipe: 'checkout', source: 'schedule' },
    by: ['ines'],
    hours: [0.4, 5.8, 11.8, 17.9, 21.3],
    isDaily: true,
    isUntilNow: true,
    titles: ['Try the payments'],
  },
  {
    ...{ project: 'mossgate/lockers/hub', recipe: 'hub', source: 'push' },
    by: ['tomasz', 'jonas'],
    hours: [8.2, 10.6, 13.1, 15.7],
    titles: ['Remember lockers that sleep', 'Smaller messages', 'Measure the signal'],
  },
  {
    ...{ project: 'mossgate/lockers/devices/door-firmware', recipe: 'firmware', source: 'push' },
    by: ['jonas', 'tomasz'],
    hours: [9.5, 12.1, 14.6],
    titles: ['Close more gently', 'Count the openings', 'A shorter beep'],
  },
  {
    ...{ project: 'mossgate/platform/ci-images', recipe: 'ci images', source: 'schedule' },
    by: ['ines'],
    hours: [4.5],
    isDaily: true,
    titles: ['New base images'],
  },
]

/**
 * The share of runs in which a job has a fate. The first row that applies decides. `payments sandbox` has the highest share of retries,
 * because Insights names the flaky job with the highest rate.
 */
const mishaps: readonly { readonly job: string; readonly share: number; readonly fate: Fate }[] = [
  { job: 'payments sandbox', share: 0.14, fate: { kind: 'retried', reason: 'script_failure' } },
  { job: 'lost connection', share: 0.1, fate: { kind: 'retried', reason: 'script_failure' } },
  { job: 'integration', share: 0.08, fate: { kind: 'fails', reason: 'script_failure' } },
  { job: 'unit', share: 0.05, fate: { kind: 'fails', reason: 'script_failure' } },
  { job: 'unit 2/3', share: 0.05, fate: { kind: 'fails', reason: 'script_failure' } },
  { job: 'power cut', share: 0.12, fate: { kind: 'fails', reason: 'job_execution_timeout' } },
  { job: 'known faults', share: 0.15, fate: { kind: 'fails', reason: 'script_failure' } },
]
/** The jobs that failed on the working day on which the runners had no disk space left, about six days before the end. */
const badDay = {
  daysAgo: [6, 7, 8],
  jobs: ['bundle', 'image', 'types', 'board b'],
  share: 0.45,
  fate: { kind: 'fails', reason: 'runner_system_failure' },
} as const
/** These jobs become slower by this share each day, which lengthens their pipelines more than `slowImage` does in the last third of the time. */
const drift = { jobs: ['browser 1/4', 'browser 2/4', 'browser 3/4', 'browser 4/4'], share: 0.1 }

/** The job `image` of the routine that goes on, in the last two days. */
const slowImage: Fate = { kind: 'slow', times: 2 }

/**
 * Returns the runs of the two weeks before `nowMs`, in the order of their start: enough to compare weeks, with flaky jobs, a
 * job that slowly takes longer, a day on which much failed, and a job that has become slow in the last two days.
 */
export function earlierRuns(nowMs: number, chance: Chance): Run[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const badDaysAgo = badDay.daysAgo.find((daysAgo) => isWorkingDay(today - daysAgo * DAY_MS))
  const days = Array.from({ length: DAYS + 1 }, (_, index) => DAYS - index)
  return days.flatMap((daysAgo) => {
    const day = today - daysAgo * DAY_MS
    const runsOf = (routine: Routine) =>
      routine.hours
        .map((hour, index) =>
          runOf(routine, { day, daysAgo, hour, index, isBad: daysAgo === badDaysAgo }, nowMs, chance),
        )
        .filter(({ hoursAgo }) => hoursAgo > (routine.isUntilNow ? LAST_START_HOURS : RECENT_HOURS))
        .filter(({ hoursAgo }) => hoursAgo <= DAYS * 24)
    return routines
      .filter(({ isDaily }) => isDaily || isWorkingDay(day))
      .flatMap(runsOf)
      .toSorted((a, b) => b.hoursAgo - a.hoursAgo)
  })
}

interface Slot {
  /** The beginning of the day. */
  readonly day: number
  readonly daysAgo: number
  readonly hour: number
  readonly index: number
  readonly isBad: boolean
}

const isWorkingDay = (day: number): boolean => ![SATURDAY, SUNDAY].includes(new Date(day).getUTCDay())

function runOf(routine: Routine, { day, daysAgo, hour, index, isBad }: Slot, nowMs: number, chance: Chance): Run {
  const { project, recipe, source, by, titles } = routine
  const name = `${recipe} ${daysAgo} ${index}`
  const delayMs = chance(name, 'delay') * 0.3 * HOUR_MS
  const hoursAgo = (nowMs - day - hour * HOUR_MS - delayMs) / HOUR_MS
  return {
    ...{ project, recipe, source },
    by: by[index % by.length]!,
    title: titles[(index + daysAgo) % titles.length]!,
    hoursAgo,
    isEarlier: true,
    fates: {
      ...slowerFates(daysAgo),
      ...(routine.isUntilNow && hoursAgo < RECENT_HOURS && { image: slowImage }),
      ...mishapsOf(name, isBad, chance),
    },
  }
}

function mishapsOf(name: string, isBad: boolean, chance: Chance): Readonly<Record<string, Fate>> {
  const failed = isBad ? badDay.jobs.filter((job) => chance(name, job) < badDay.share) : []
  return Object.fromEntries([
    ...mishaps.filter(({ job, share }) => chance(name, job) < share).map(({ job, fate }) => [job, fate] as const),
    ...failed.map((job) => [job, badDay.fate] as const),
  ])
}

/** Returns the fates of the jobs that became slower until that day. */
export function slowerFates(daysAgo: number): Readonly<Record<string, Fate>> {
  const slower: Fate = { kind: 'slow', times: 1 + drift.share * Math.max(0, DAYS - daysAgo) }
  return Object.fromEntries(drift.jobs.map((job) => [job, slower]))
}
