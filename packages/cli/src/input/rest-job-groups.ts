import { groupRestJobs, isRestJob, RecordError, type RestJob } from '@penstock/converter'
import { formatCount } from '../text/wording.ts'
import type { Place, Reading } from './record-stream.ts'

/** A series of consecutive REST jobs. */
interface Series {
  readonly places: Place[]
  readonly jobs: RestJob[]
  bytes: number
}

const newSeries = (): Series => ({ places: [], jobs: [], bytes: 0 })

/**
 * Yields other bodies unchanged, and joins consecutive REST jobs into one bundle per pipeline. The jobs may be in several
 * lists and lines.
 *
 * A series is held in memory until it ends. A series is refused if its documents are longer than `maxBytes`.
 */
export async function* groupedJobs(readings: AsyncIterable<Reading>, maxBytes: number): AsyncGenerator<Reading> {
  let series = newSeries()
  for await (const reading of readings) {
    if (reading.kind === 'fault' || !isRestJob(reading.body)) {
      yield* readingsOf(series, maxBytes)
      series = newSeries()
      yield reading
      continue
    }
    series.bytes += reading.documentBytes ?? 0
    series.places.push(reading.place)
    series.jobs.push(reading.body)
    if (series.bytes > maxBytes) {
      series.jobs.length = 0
      series.places.length = 1
    }
  }
  yield* readingsOf(series, maxBytes)
}

function* readingsOf({ places, jobs, bytes }: Series, maxBytes: number): Generator<Reading> {
  const [first] = places
  if (first !== undefined && bytes > maxBytes) {
    const reason = `begins a series of REST jobs longer than ${formatCount(maxBytes)} bytes (--max-file-bytes); pass the jobs of each pipeline in a separate file`
    yield { kind: 'fault', place: first, error: new RecordError('', reason) }
    return
  }
  for (const { firstIndex, body } of groupRestJobs(jobs)) {
    yield { kind: 'body', place: places[firstIndex]!, body, isJobGroup: true }
  }
}
