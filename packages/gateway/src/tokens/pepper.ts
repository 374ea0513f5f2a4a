/** Keys of the token hashes, outside the database, by id; new tokens take the newest (T-6). */
export interface Peppers {
  readonly newestId: string
  /** 32 bytes each. */
  readonly byId: ReadonlyMap<string, Uint8Array>
}
