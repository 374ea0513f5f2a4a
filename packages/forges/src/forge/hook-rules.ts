/** Headers as Node has them: names in lower case, each byte of a value as one character. */
export type HookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** How a forge sends its hooks, and how it proves that it is the sender. */
export interface HookRules {
  /**
   * Returns the event that a hook is about, in lower case.
   *
   * @param serviceName replaces the name of the forge in the names of headers
   */
  readonly event: (headers: HookHeaders, serviceName: string) => string | undefined
  /** The events that may contain a record, or name a run. */
  readonly recordEvents: readonly string[]
  /** An event that is sent for records and for other things; bodies that are no records are then ignored. */
  readonly mixedEvent?: string
  /**
   * Set if a webhook of the forge can send a form with the JSON in its field `payload`, and which of the two it signs.
   */
  readonly formSigns?: 'form' | 'payload'
  /** Set if the forge signs hooks with a signing token of Standard Webhooks. Sources of other forges have none. */
  readonly hasSigningTokens?: true
  /** The form of secret tokens, if the forge cannot send all texts. */
  readonly secretTokenForm?: { readonly pattern: RegExp; readonly expected: string }
  /** Validates what can be validated before the body is read. */
  readonly validateHeaders: (
    credentials: Credentials,
    request: { readonly headers: HookHeaders; readonly serviceName: string; readonly nowMs: number },
  ) => CredentialRefusal | undefined
  /** Validates the signature over the signed part of a request that `validateHeaders` accepted. */
  readonly validateSignature: (
    credentials: Credentials,
    headers: HookHeaders,
    body: Uint8Array,
  ) => CredentialRefusal | undefined
}

/** The credentials of a source, at least one. A request must present one of each kind that the source has. */
export interface Credentials {
  /** The SHA-256 digests of the secret tokens. */
  readonly tokenDigests: readonly Uint8Array[]
  /** The bytes of the secret tokens, which are keys of signatures for forges that sign with them. */
  readonly secretTokens: readonly Uint8Array[]
  /** The keys of Standard Webhooks signatures. */
  readonly signingKeys: readonly Uint8Array[]
}

/** The reason why a request is refused. It is written to the log, and never sent to the caller. */
export type CredentialRefusal =
  | 'token_missing'
  | 'token_wrong'
  | 'signature_missing'
  | 'timestamp_unreadable'
  | 'timestamp_outside_window'
  | 'signature_wrong'
