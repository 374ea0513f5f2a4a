import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { pageInput } from '../../base/kit/page.ts'
import { problem } from '../../base/kit/parse-input.ts'
import { hookInput } from './hook.ts'

/** A request to the receiver of a hook, in the form in which it is stored: without secrets. */
export interface HookCallStart {
  readonly hookId: number
  readonly trigger: string
  /** The URL with its placeholders, without credentials. */
  readonly url: string
  /** The SHA-256 of the URL that the request is sent to. */
  readonly urlDigest: string
  readonly idempotencyKey: string
  readonly requestHeaders: Readonly<Record<string, string>>
  /** JSON. */
  readonly requestData: string
}

export interface HookCallEnd {
  /** `undefined` if there was no answer. */
  readonly status: number | undefined
  /** Why there was no answer. */
  readonly internalError: string | undefined
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: string
  readonly durationMs: number
}

/** An entry of the event log. */
export interface StoredHookCall extends HookCallStart, HookCallEnd {
  readonly id: number
  readonly createdAtMs: number
}

/** An entry without its request data, which may be long. */
export type CallWithoutData = Omit<StoredHookCall, 'requestData'>

/** The event log serves calls from the beginning of the day that is this many days ago. */
export const SERVED_DAYS = 7
export const KEPT_DAYS = 14
/** The request data that is stored in place of data that is too large for the log. */
export const OVERSIZE_DATA = '{"oversize":true}'

/** The value of `status` that selects calls without an answer. */
export const INTERNAL_ERROR = 'internal error'
export const statusCategories = {
  successful: [200, 299],
  client_failure: [400, 499],
  server_failure: [500, 599],
} as const
type StatusCategory = keyof typeof statusCategories

const MAX_PER_PAGE = 20
const statuses = [...Object.keys(STATUS_CODES), ...Object.keys(statusCategories), INTERNAL_ERROR]
const status = z.string().superRefine((text, context) => {
  if (!statuses.includes(text)) context.addIssue(problem('unknown_value'))
})

export const listHookEventsInput = hookInput.extend({
  status: z.array(status).max(statuses.length).optional(),
  page: pageInput.page,
  perPage: z
    .int()
    .default(MAX_PER_PAGE)
    .superRefine((perPage, context) => {
      if (perPage < 1 || perPage > MAX_PER_PAGE) context.addIssue(problem('unknown_value'))
    }),
})

/** Returns the ranges of response statuses that the values select; `undefined` means calls without an answer. */
export const statusRangesOf = (values: readonly string[]): (readonly [number, number] | undefined)[] =>
  values.map((value) => {
    if (value === INTERNAL_ERROR) return undefined
    return Object.hasOwn(statusCategories, value)
      ? statusCategories[value as StatusCategory]
      : ([Number(value), Number(value)] as const)
  })
