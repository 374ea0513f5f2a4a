/** An e-mail address of a user. */
export interface Email {
  readonly id: number
  readonly userId: number
  /** In lower case. */
  readonly email: string
  /** `undefined` until the user has opened the link in the mail to the address. */
  readonly confirmedAtMs: number | undefined
  readonly createdAtMs: number
}

/** The most addresses of a user. */
export const MAX_EMAILS = 20
/** How long the link of a confirmation mail works. */
export const CONFIRM_WITHIN_MS = 3 * 86_400_000

/** The parts that the signature of a confirmation link covers. */
export const confirmationParts = ({ id, userId, email, createdAtMs }: Email): readonly string[] => [
  'email confirmation',
  String(id),
  String(userId),
  email,
  String(createdAtMs),
]
