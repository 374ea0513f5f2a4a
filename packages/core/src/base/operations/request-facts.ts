import { subscriberOf } from '@penstock/runtime'
import { DomainError } from '../kit/domain-error.ts'
import { instantMs } from '../kit/parameter-schemas.ts'

/** The facts that operations may use about the request that called them. A call of the command line has none of these. */
export interface RequestFacts {
  /** The address of the client. */
  readonly address?: string | undefined
  readonly userAgent?: string | undefined
  /** The chain of webhook deliveries that the request belongs to: a receiver sends the UUID of its delivery back. */
  readonly eventUuid?: string | undefined
  /** The time after which the object must not have changed, if the operation is `conditional`. */
  readonly ifUnmodifiedSinceMs?: number | undefined
}

export const noRequest: RequestFacts = {}

/** Returns the subscriber from the address of a request; `undefined` for the command line. */
export const toSubscriber = ({ address }: RequestFacts): string | undefined =>
  address === undefined ? undefined : subscriberOf(address)

/** The values from which `toRequestFacts` reads; all of them come from the client. */
interface SentFacts {
  readonly source: string
  readonly userAgent: string | undefined
  readonly eventUuid: string | undefined
  readonly ifUnmodifiedSince: string | undefined
}

/** The length to which a user agent is cut, so that rows which store it stay small. */
const MAX_USER_AGENT_CHARACTERS = 1_024
const uuidFormat = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns the facts of a request. A time or a UUID that is not valid is treated as missing. */
export function toRequestFacts({ source, userAgent, eventUuid, ifUnmodifiedSince }: SentFacts): RequestFacts {
  const uuid = eventUuid?.trim().toLowerCase()
  return {
    address: source,
    userAgent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS),
    eventUuid: uuid !== undefined && uuidFormat.test(uuid) ? uuid : undefined,
    ifUnmodifiedSinceMs: ifUnmodifiedSince === undefined ? undefined : timeIn(ifUnmodifiedSince.trim()),
  }
}

/** The three formats of HTTP dates (RFC 9110, section 5.6.7); all of them are UTC. */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w+, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT|(\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}))$/

/** Returns the time in an HTTP date or an ISO 8601 date-time. */
function timeIn(text: string): number | undefined {
  const match = httpDate.exec(text)
  if (match === null) return instantMs(text)
  const ms = Date.parse(match[1] === undefined ? text : `${match[1]} GMT`)
  return Number.isNaN(ms) ? undefined : ms
}

/**
 * The check of `If-Unmodified-Since` in one call of an operation. The operation decides when to make the check: after
 * that of the permission, once it has read the object.
 */
export class UnmodifiedCheck {
  readonly #operation: string
  readonly #isConditional: boolean
  readonly #sinceMs: number | undefined
  #isDone = false

  constructor(operation: string, isConditional: boolean, { ifUnmodifiedSinceMs }: RequestFacts) {
    this.#operation = operation
    this.#isConditional = isConditional
    this.#sinceMs = ifUnmodifiedSinceMs
  }

  /** @throws DomainError `changed_since` if the object changed later than the request allows */
  readonly require = (changedAtMs: number | undefined): void => {
    if (!this.#isConditional) throw new Error(`${this.#operation} calls requireUnmodified but is not conditional`)
    this.#isDone = true
    if (this.#sinceMs === undefined || changedAtMs === undefined || changedAtMs <= this.#sinceMs) return
    throw new DomainError({ code: 'changed_since' })
  }

  /** @throws Error if the operation has not made the check, so that no request can change an object without it */
  requireDone(): void {
    if (this.#isConditional && !this.#isDone) throw new Error(`${this.#operation} must call requireUnmodified`)
  }
}
