import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CoreProcess } from './core-process.ts'

/** Makes random writes of its own, one after the other. */
export interface RandomWriter {
  /** Rejects if there is no answer, and if the answer is not the expected one. */
  write(core: CoreProcess): Promise<void>
}

const MAX_WRITES_BEFORE_KILL = 25
/** Turns of the event loop of the test, which give the core a few milliseconds at most. */
const MAX_TURNS_BEFORE_KILL = 300

/** Lets the writers write concurrently, and kills the core at a random time. */
export async function writeUntilKilled(
  core: CoreProcess,
  writers: readonly RandomWriter[],
  random: () => number,
): Promise<void> {
  const killAfter = 1 + Math.floor(random() * MAX_WRITES_BEFORE_KILL)
  const turns = Math.floor(random() * MAX_TURNS_BEFORE_KILL)
  let acknowledged = 0
  let isKilled = false
  const writeRepeatedly = async (writer: RandomWriter) => {
    while (!isKilled) {
      try {
        await writer.write(core)
      } catch (error) {
        // `fetch` throws these if there is no response, or only a part of one.
        if (isKilled && (error instanceof TypeError || error instanceof SyntaxError)) return
        throw error
      }
      acknowledged += 1
      if (acknowledged !== killAfter) continue
      for (let turn = 0; turn < turns; turn += 1) await nextTurn()
      isKilled = true
      core.kill()
    }
  }
  await Promise.all(writers.map(writeRepeatedly))
}

/** Makes a number of writes, by all writers concurrently and to all processes. */
export async function writeOften(
  cores: readonly CoreProcess[],
  writers: readonly RandomWriter[],
  writes: number,
): Promise<void> {
  let left = writes
  const writeRepeatedly = async (writer: RandomWriter, index: number) => {
    while (left > 0) {
      left -= 1
      await writer.write(cores[(index + left) % cores.length]!)
    }
  }
  await Promise.all(writers.map(writeRepeatedly))
}
