/**
 * Where a credential was sent. URLs are often logged on their way, so only some tokens may be sent in the query (T-9).
 */
export type CredentialPlace = 'header' | 'query'

/** The credential of a request, not yet verified. */
export type Credential =
  | BearerCredential
  | { readonly kind: 'none' }
  /** There are two credentials, or the credential has another scheme, is too long or is empty. */
  | { readonly kind: 'malformed' }

export interface BearerCredential {
  readonly kind: 'bearer'
  readonly value: string
  readonly from: CredentialPlace
  /** Returns the hash of the value. Exists if the credential is used for several requests, so that it is hashed once. */
  hashedWith?(hash: KeyedHash): Uint8Array
  /** Returns the token id that `idIn` finds in the value. Exists if the credential is used for several requests. */
  tokenId?(idIn: (value: string) => string | undefined): string | undefined
}

export interface KeyedHash {
  digest(text: string): Uint8Array
}

/**
 * A credential that further requests of a connection repeat. It keeps the token id and the keyed hash of its value, which do
 * not depend on anything that may change: each request is still checked against the current tokens.
 */
export class RepeatedCredential implements BearerCredential {
  readonly kind = 'bearer'
  readonly value: string
  readonly from: CredentialPlace
  #hash: KeyedHash | undefined
  #digest: Uint8Array = new Uint8Array(0)
  /** `null` until the value has been read. */
  #tokenId: string | undefined | null = null

  constructor({ value, from }: BearerCredential) {
    this.value = value
    this.from = from
  }

  hashedWith(hash: KeyedHash): Uint8Array {
    if (hash !== this.#hash) {
      // A copy, because the next digest overwrites the returned array.
      this.#digest = hash.digest(this.value).slice()
      this.#hash = hash
    }
    return this.#digest
  }

  tokenId(idIn: (value: string) => string | undefined): string | undefined {
    if (this.#tokenId === null) this.#tokenId = idIn(this.value)
    return this.#tokenId
  }
}
