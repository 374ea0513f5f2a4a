import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Peppers } from './pepper.ts'

/** HMAC-SHA-256 under each pepper, for the management side (T-4, T-6). */
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

  /** 32 bytes, under the newest pepper. */
  newestMac(text: string): Buffer {
    return createHmac('sha256', this.#newest).update(text).digest()
  }

  /** Under each pepper: where a secret without a visible id may have been made with any of them. */
  allMacs(text: string): Buffer[] {
    return [...this.#keys.values()].map((key) => createHmac('sha256', key).update(text).digest())
  }
}
