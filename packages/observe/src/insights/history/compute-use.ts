/** The time that the jobs of a run used runners, as a row per runner and list of tags. */
export interface UseColumns {
  /** Numbers of the table of runs. */
  readonly runner: Uint32Array
  readonly tagList: Uint32Array
  /** Whole microseconds, so that sums do not depend on the order of the jobs. */
  readonly time: Float64Array
  readonly jobs: Uint32Array
}

export const MICROSECONDS = 1_000_000
const FIRST_CAPACITY = 1_024
/** How many of a run's latest rows are compared with its next job. A run with more combinations may have several rows of one. */
const COMPARED_ROWS = 8

const makeColumns = (capacity: number): UseColumns => ({
  runner: new Uint32Array(capacity),
  tagList: new Uint32Array(capacity),
  time: new Float64Array(capacity),
  jobs: new Uint32Array(capacity),
})

/** The compute time of runs. Runs have few runners and lists of tags, so adding these rows up is faster than adding up jobs. */
export class ComputeUse {
  #columns = makeColumns(FIRST_CAPACITY)
  #length = 0
  /** The first row of the run that is added. */
  #from = 0

  get columns(): UseColumns {
    return this.#columns
  }

  /** Begins the next run, and returns its first row. */
  begin(): number {
    this.#from = this.#length
    return this.#from
  }

  /** Adds a job of the run that was begun last. */
  add(runner: number, tagList: number, seconds: number): void {
    const { runner: runners, tagList: tagLists, time, jobs } = this.#columns
    const microseconds = Math.round(seconds * MICROSECONDS)
    const oldest = Math.max(this.#from, this.#length - COMPARED_ROWS)
    for (let row = this.#length - 1; row >= oldest; row -= 1) {
      if (runners[row] !== runner || tagLists[row] !== tagList) continue
      time[row] = time[row]! + microseconds
      jobs[row] = jobs[row]! + 1
      return
    }
    this.#append(runner, tagList, microseconds)
  }

  /** Returns the end of the rows of the run that was begun last. */
  end(): number {
    return this.#length
  }

  #append(runner: number, tagList: number, microseconds: number): void {
    if (this.#length === this.#columns.runner.length) this.#grow()
    const { runner: runners, tagList: tagLists, time, jobs } = this.#columns
    runners[this.#length] = runner
    tagLists[this.#length] = tagList
    time[this.#length] = microseconds
    jobs[this.#length] = 1
    this.#length += 1
  }

  #grow(): void {
    const { runner, tagList, time, jobs } = this.#columns
    this.#columns = makeColumns(2 * runner.length)
    this.#columns.runner.set(runner)
    this.#columns.tagList.set(tagList)
    this.#columns.time.set(time)
    this.#columns.jobs.set(jobs)
  }
}
