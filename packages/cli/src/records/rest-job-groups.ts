import { groupRestJobs, isRestJob, pipelineKey, RecordError, type RestJob } from '@penstock/forges'
import type { Place, Reading } from '../input/record-stream.ts'
import { formatCount } from '../text/wording.ts'
import { RecentMap } from './recent-map.ts'

/** The jobs of one pipeline that have been read so far. */
interface Group {
  readonly place: Place
  readonly jobs: RestJob[]
  bytes: number
}

/** The maximum number of pipelines in `#lastSeries`. */
const REMEMBERED_PIPELINES = 100_000
/** More than the number of series in a file, so that series of different files have different numbers. */
const SERIES_PER_FILE = 2 ** 32

/**
 * Joins REST jobs into one bundle per pipeline, over all files of a run: a REST API returns jobs in pages, and bridges in
 * another list. `survey` reads the files first and remembers where the last job of each pipeline is; `read` then yields a
 * bundle as soon as it is complete. Without a survey, a bundle ends with its series of consecutive jobs.
 *
 * Jobs are held in memory until their bundle is complete. If those held are longer than `maxBytes`, they are refused.
 */
export class RestJobGroups {
  readonly #maxBytes: number
  /** The number of the last series with jobs of a pipeline. */
  readonly #lastSeries = new RecentMap<string, number>({ entries: REMEMBERED_PIPELINES })
  readonly #held = new Map<string, Group>()
  /** The pipelines with refused jobs. Their further jobs are ignored. */
  readonly #refused = new Set<string>()
  #heldBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Yields the readings of file number `file`, with one bundle per pipeline in each series. */
  survey(readings: AsyncIterable<Reading>, file: number): AsyncGenerator<Reading> {
    const groups = new RestJobGroups(this.#maxBytes)
    return groups.#joined(readings, file, (key, series) => {
      this.#lastSeries.set(key, series)
      return false
    })
  }

  /** Yields the readings of file number `file`, with bundles in place of REST jobs. */
  read(readings: AsyncIterable<Reading>, file: number): AsyncGenerator<Reading> {
    return this.#joined(readings, file, (key, series) => (this.#lastSeries.get(key) ?? series) > series)
  }

  /** `mayHold` returns whether a pipeline has jobs in a later series. */
  async *#joined(
    readings: AsyncIterable<Reading>,
    file: number,
    mayHold: (key: string, series: number) => boolean,
  ): AsyncGenerator<Reading> {
    let series = file * SERIES_PER_FILE
    let keys = new Set<string>()
    for await (const reading of readings) {
      if (reading.kind === 'body' && isRestJob(reading.body)) {
        const key = pipelineKey(reading.body)
        keys.add(key)
        const refusal = this.#add(key, reading.body, reading)
        if (refusal !== undefined) yield refusal
        continue
      }
      if (keys.size > 0) {
        yield* this.#complete(keys, (key) => mayHold(key, series))
        keys = new Set()
        series += 1
      }
      yield reading
    }
    yield* this.#complete(keys, (key) => mayHold(key, series))
  }

  #add(
    key: string,
    job: RestJob,
    { place, documentBytes = 0 }: Extract<Reading, { kind: 'body' }>,
  ): Reading | undefined {
    if (this.#refused.has(key)) return undefined
    const group = this.#held.get(key) ?? { place, jobs: [], bytes: 0 }
    this.#held.set(key, group)
    group.jobs.push(job)
    group.bytes += documentBytes
    this.#heldBytes += documentBytes
    if (this.#heldBytes <= this.#maxBytes) return undefined
    const first = this.#held.values().next().value ?? group
    for (const each of this.#held.keys()) this.#refused.add(each)
    this.#held.clear()
    this.#heldBytes = 0
    const reason = `begins a series of REST jobs longer than ${formatCount(this.#maxBytes)} bytes (--max-file-bytes); pass the jobs of each pipeline in a separate file`
    return { kind: 'fault', place: first.place, error: new RecordError('', reason) }
  }

  /** Yields the bundles of these pipelines, except those that wait for a later series. */
  *#complete(keys: ReadonlySet<string>, waits: (key: string) => boolean): Generator<Reading> {
    for (const key of keys) {
      const group = this.#held.get(key)
      if (waits(key) || group === undefined) continue
      this.#held.delete(key)
      this.#heldBytes -= group.bytes
      for (const { body } of groupRestJobs(group.jobs)) {
        yield { kind: 'body', place: group.place, body, isJobGroup: true }
      }
    }
  }
}
