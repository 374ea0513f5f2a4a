import { Session } from 'node:inspector'

/** Reads one input. Throws if it finds a fault. */
export type FuzzTarget = (input: Buffer) => void

export interface FuzzResult {
  readonly runs: number
  /** The inputs that reached code which no earlier one had reached, the given ones included. */
  readonly corpus: readonly Buffer[]
  /** The number of blocks of code that were reached. */
  readonly blocks: number
  readonly faults: readonly { readonly input: string; readonly error: unknown }[]
}

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[]
    }[]
  }[]
}

/** The inputs that run between two looks at the coverage, which take as long as many runs. */
const BATCH = 64
const MAX_INPUT_BYTES = 2_048

/** Changes inputs at random, and keeps those that reach new code, as V8 counts its blocks (precise coverage). */
export class CoverageFuzzer {
  readonly #session = new Session()
  readonly #files: RegExp
  readonly #random: () => number
  readonly #seen = new Set<string>()

  /** @param files matches the URLs of the scripts with the code that is to be reached */
  constructor(files: RegExp, random: () => number) {
    this.#files = files
    this.#random = random
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }

  /** Runs the seeds, and changes of what was found, until `isOver`. Ends with the first fault. */
  fuzz(target: FuzzTarget, seeds: readonly Buffer[], isOver: () => boolean): FuzzResult {
    const corpus: Buffer[] = []
    const faults: FuzzResult['faults'][number][] = []
    let runs = 0
    const run = (input: Buffer) => {
      runs += 1
      try {
        target(input)
      } catch (error) {
        faults.push({ input: input.toString('hex'), error })
      }
    }
    this.#hasNew()
    for (const seed of seeds) {
      run(seed)
      if (this.#hasNew()) corpus.push(seed)
    }
    while (!isOver() && faults.length === 0) {
      const batch = Array.from({ length: BATCH }, () => this.#change(corpus))
      batch.forEach(run)
      const known = new Set(this.#seen)
      if (!this.#hasNew()) continue
      // The inputs of the batch run again one by one, to find those that reached the new code.
      this.#seen.clear()
      for (const block of known) this.#seen.add(block)
      for (const input of batch) {
        run(input)
        if (this.#hasNew()) corpus.push(input)
      }
    }
    return { runs, corpus, blocks: this.#seen.size, faults }
  }

  /** Returns whether code was reached since the last call that was never reached before. */
  #hasNew(): boolean {
    const before = this.#seen.size
    this.#session.post('Profiler.takePreciseCoverage', (error: Error | null, taken: object) => {
      if (error !== null) throw error
      for (const { url, functions } of (taken as Coverage).result) {
        if (!this.#files.test(url)) continue
        for (const { ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            // The size of the count is a part of the key, so that loops are explored too.
            if (count > 0) this.#seen.add(`${url}:${startOffset}-${endOffset}:${Math.min(8, 32 - Math.clz32(count))}`)
          }
        }
      }
    })
    return this.#seen.size > before
  }

  #change(corpus: readonly Buffer[]): Buffer {
    let input: Buffer = Buffer.from(this.#pick(corpus))
    for (let changes = 1 + this.#below(4); changes > 0; changes -= 1) input = this.#changeOnce(input, corpus)
    return input.subarray(0, MAX_INPUT_BYTES)
  }

  #changeOnce(input: Buffer, corpus: readonly Buffer[]): Buffer {
    const at = this.#below(input.length + 1)
    const other = this.#pick(corpus)
    switch (this.#below(6)) {
      case 0:
        return Buffer.concat([input.subarray(0, at), Buffer.of(this.#below(256)), input.subarray(at)])
      case 1:
        return Buffer.concat([input.subarray(0, at), input.subarray(at + 1 + this.#below(8))])
      case 2:
        if (at < input.length) input[at] = input[at]! ^ (1 << this.#below(8))
        return input
      case 3:
        if (at < input.length) input[at] = [0, 1, 0x7f, 0x80, 0xff, 9, 10, 13][this.#below(8)]!
        return input
      case 4:
        return Buffer.concat([input.subarray(0, at), other.subarray(this.#below(other.length + 1))])
      default: {
        const start = this.#below(other.length + 1)
        const part = other.subarray(start, start + this.#below(32))
        return Buffer.concat([input.subarray(0, at), part, input.subarray(at)])
      }
    }
  }

  #pick(corpus: readonly Buffer[]): Buffer {
    return corpus[this.#below(corpus.length)] ?? Buffer.alloc(0)
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}
