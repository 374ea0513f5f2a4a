/** The keys of the token hashes by id, stored outside the database. New tokens use the newest (T-6). */
export interface Peppers {
  readonly newestId: string
  /** Keys of 32 bytes. */
  readonly byId: ReadonlyMap<string, Uint8Array>
}
