import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Actor, DomainError, parseInput, perform, ReadLimitExceeded, type RequestFacts } from '@penstock/core'
import { type BuildQueue, ClientGone, type Reply } from '@penstock/http'
import { MAX_ANSWER_BYTES } from '@penstock/json'
import { subscriberOf } from '@penstock/runtime'
import { RestError } from '../routing/rest-error.ts'
import { type Built, heaviestMemberInResult, type ReplyRequest, replyTo } from './row-reply.ts'
import { TextLimit } from './text-limit.ts'

/** The characters that most requests read at most. One that needs more waits for its turn, and begins again. */
const SHORT_READ_CHARACTERS = 1024 * 1024
/** The characters that a request may read. Twice the maximum size of an answer, because some texts are only read for others. */
const MAX_READ_CHARACTERS = 2 * MAX_ANSWER_BYTES

interface BoundedQuery extends ReplyRequest {
  readonly actor: Actor
  readonly input: object
  readonly facts: RequestFacts
  readonly queue: BuildQueue
}

/** The result of an attempt that ended because its texts exceed the limit on reading. */
interface Unread {
  readonly kind: 'unread'
  /** The number of long texts that were read until then. */
  readonly longTexts: number
}

type Attempt = Built | Unread

/**
 * Answers a query with at most `MAX_ANSWER_BYTES` of JSON, and reads a limited amount of text for it. A page by number is
 * whole; a page by cursor may be shorter than requested.
 *
 * @throws RestError 413 that names the largest page that fits, or the member that is too large
 */
export async function boundedReply(query: BoundedQuery): Promise<Reply> {
  const short = await attempt(query, { limit: new TextLimit(SHORT_READ_CHARACTERS) })
  if (short.kind === 'reply') return short.reply
  const { source, raw } = query.request
  const client = { address: subscriberOf(source), isGone: () => raw.socket.destroyed }
  return query.queue.run(client, () => longReply(query))
}

async function longReply(query: BoundedQuery): Promise<Reply> {
  const requested = requestedRows(query)
  const first = await repeated(query, requested)
  if (first.kind === 'reply') return first.reply
  const largest = requested === undefined ? 0 : await largestPage(query, requested, first)
  if (typeof largest !== 'number') return largest
  if (largest > 0)
    throw refusal(`The page would be larger than ${MAX_ANSWER}. The largest per_page that fits is ${largest}.`)
  const member = first.kind === 'unread' ? undefined : first.member
  throw memberTooLarge(member ?? (await heaviestMemberRead(query)))
}

/**
 * Returns the largest number of rows that fit, or 0 if not even one does. Returns the reply of a shorter page instead if pages
 * have cursors.
 *
 * @param tooLarge the attempt with the requested number of rows
 */
async function largestPage(query: BoundedQuery, requested: number, tooLarge: Attempt): Promise<number | Reply> {
  let [fitting, excessive] = boundsAfter(tooLarge, { rows: requested, fitting: 0, excessive: requested })
  let last = tooLarge
  let isByCursor = last.kind !== 'unread' && last.isKeyset
  while (excessive - fitting > 1 || (isByCursor && fitting > 0)) {
    requireClient(query)
    const rows = isByCursor && fitting > 0 ? fitting : nextRows(last, fitting, excessive)
    last = await repeated(query, rows)
    if (last.kind !== 'unread') isByCursor = last.isKeyset
    if (last.kind === 'reply' && isByCursor) return last.reply
    ;[fitting, excessive] = boundsAfter(last, { rows, fitting, excessive })
  }
  return fitting
}

/**
 * Returns the number of rows to try next. If the texts exceeded the limit on reading, the number of long ones is an estimate of the rows that
 * fit, so that fewer texts are read only to be discarded.
 */
function nextRows(last: Attempt, fitting: number, excessive: number): number {
  const middle = (fitting + excessive) >> 1
  if (last.kind !== 'unread' || last.longTexts === 0) return middle
  const likely = Math.floor(last.longTexts * (MAX_ANSWER_BYTES / MAX_READ_CHARACTERS))
  return Math.min(middle, Math.max(fitting + 1, likely))
}

/** @throws ClientGone if the client has closed its connection */
function requireClient({ request: { raw } }: BoundedQuery): void {
  if (raw.socket.destroyed) throw new ClientGone()
}

/** Returns the number of rows that fit for certain, and the number that does not, after an attempt with `rows`. */
function boundsAfter(
  attempt: Attempt,
  { rows, fitting, excessive }: { readonly rows: number; readonly fitting: number; readonly excessive: number },
): [number, number] {
  if (attempt.kind === 'unread') return [Math.min(fitting, rows - 1), rows]
  if (attempt.kind === 'reply') return [rows, excessive]
  return [attempt.fittingRows, attempt.fittingRows + 1]
}

/** Returns the number of rows that the query may return at most; `undefined` if it has no pages. */
function requestedRows({ row, input }: BoundedQuery): number | undefined {
  const { perPage } = parseInput(row.operation.input, input) as { readonly perPage?: number }
  return perPage
}

const repeated = (query: BoundedQuery, rows: number | undefined): Promise<Attempt> =>
  attempt(query, {
    limit: new TextLimit(MAX_READ_CHARACTERS),
    isRepeated: true,
    ...(rows !== undefined && { rows }),
  })

interface AttemptOptions {
  readonly limit: TextLimit
  readonly isRepeated?: boolean
  readonly rows?: number
}

async function attempt(query: BoundedQuery, options: AttemptOptions): Promise<Attempt> {
  try {
    const result = await runQuery(query, options)
    // Texts of many megabytes take long to read, and long again to convert.
    if (options.isRepeated) await nextTurn()
    return await replyTo(result, query)
  } catch (error) {
    if (error instanceof ReadLimitExceeded) return { kind: 'unread', longTexts: options.limit.longTexts }
    throw error
  }
}

const runQuery = (
  { core, actor, row, input, facts }: BoundedQuery,
  { limit, isRepeated = false, rows }: AttemptOptions,
): Promise<unknown> =>
  perform(core, actor, row.operation, rows === undefined ? input : { ...input, perPage: rows }, {
    request: facts,
    readLimit: limit,
    isRepeated,
  })

/** Returns the member with the most text in the first row. Texts beyond the limit are read as empty for that. */
async function heaviestMemberRead(query: BoundedQuery): Promise<string | undefined> {
  const limit = new TextLimit(MAX_READ_CHARACTERS, true)
  const rows = requestedRows(query)
  try {
    const result = await runQuery(query, { limit, isRepeated: true, ...(rows !== undefined && { rows: 1 }) })
    await nextTurn()
    return heaviestMemberInResult(result, query)
  } catch (error) {
    // An empty text in place of one in a format of our own cannot be parsed.
    if (error instanceof DomainError) throw error
    return undefined
  }
}

const MAX_ANSWER = `${MAX_ANSWER_BYTES / 1024 / 1024} MiB`

const memberTooLarge = (member: string | undefined): RestError =>
  refusal(`The answer would be larger than ${MAX_ANSWER}${member === undefined ? '' : ` because of '${member}'`}.`)

const refusal = (reason: string): RestError =>
  new RestError(413, { message: `413 Request Entity Too Large - ${reason}` })

/** Returns the error for a change with a result that is too large to be shown. */
export const changeTooLargeToShow = (member: string | undefined): RestError =>
  refusal(
    `The change was made, but its result would be larger than ${MAX_ANSWER}${member === undefined ? '' : ` because of '${member}'`}.`,
  )
