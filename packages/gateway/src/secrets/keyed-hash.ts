import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Peppers } from './pepper.ts'

/** Computes HMAC-SHA-256 under each pepper, for the management side (T-4, T-6). */
export class KeyedHash {
  readonly newestId: string
  readonly #keys: ReadonlyMap<string, KeyObject>
  readonly #newest: KeyObject

  constructor(peppers: Peppers) {
    this.newestId = peppers.newestId
    this.#keys = new Map([...peppers.byId].map(([id, key]) => [id, createSecretKey(key)]))
    const newest = this.#keys.get(peppers.newestId)
    if (newest === undefined) throw new Error(`The newest pepper, ${peppers.newestId}, is not among the peppers`)
    this.#newest = newest
  }

  /** Returns the 32-byte hash under the newest pepper. */
  newestMac(text: string): Buffer {
    return createHmac('sha256', this.#newest).update(text).digest()
  }

  /** Returns the hash under every pepper, to find a secret that contains no id. */
  allMacs(text: string): Buffer[] {
    return [...this.#keys.values()].map((key) => createHmac('sha256', key).update(text).digest())
  }
}
