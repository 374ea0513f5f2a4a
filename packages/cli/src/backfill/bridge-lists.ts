import type { Item } from './forge-client.ts'
import { ForgeError } from './forge-error.ts'

/** The lists that contain the bridges of a pipeline, newest name first. */
const bridgeParts = ['trigger_jobs', 'bridges'] as const
type BridgePart = (typeof bridgeParts)[number]

/**
 * Reads the bridges of one project's pipelines. The name of the list depends on the forge's version, so the first
 * pipeline shows which one exists.
 */
export class BridgeLists {
  /** The lists that may exist: all of them at first, then the one that was found; empty if the forge has none. */
  #parts: readonly BridgePart[] = bridgeParts

  /** Returns the bridges; an empty list if the forge has no such list, `undefined` if it answers 404. */
  async read(list: (part: BridgePart) => Promise<readonly Item[]>): Promise<readonly Item[] | undefined> {
    if (!this.mayExist) return []
    for (const part of this.#parts) {
      const bridges = await unlessMissing(list(part))
      if (bridges === undefined) continue
      this.#parts = [part]
      return bridges
    }
    return undefined
  }

  /** Whether the forge may list bridges: false once it turned out that it has no such list. */
  get mayExist(): boolean {
    return this.#parts.length > 0
  }

  /**
   * Records that an existing pipeline has no list of bridges. If no pipeline had one before, the forge has none.
   *
   * @returns whether the forge has none
   */
  recordMissing(): boolean {
    if (this.#parts.length === 1) return false
    this.#parts = []
    return true
  }
}

/** Returns the answer, or `undefined` for a 404. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) return undefined
    throw error
  }
}
