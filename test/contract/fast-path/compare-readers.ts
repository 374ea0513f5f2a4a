import { FastHeadReader } from '@penstock/gateway'
import { type Pace, type ReadHead, readWithFastPath } from './fast-reading.ts'
import { type ReadRequest, readWithLlhttp } from './llhttp.ts'
import type { MutatedStreams } from './mutated-streams.ts'

export interface Comparison {
  streams: number
  /** The ways in which streams were divided into pieces. */
  divisions: number
  /** The requests that the fast path has read, over all divisions. */
  fastRequests: number
  /** The divisions of which a part was left to node:http. */
  passedOn: number
  /** The streams in which llhttp finds an error. */
  broken: number
  /** The streams that the fast path reads differently. */
  faults: string[]
}

export interface ComparisonOptions {
  readonly streams: number
  /** The number of random divisions of each stream, besides the undivided one. */
  readonly divisions: number
  /** Every stream with a number that is a multiple of this is also divided in two at every place. */
  readonly everyPlaceOf: number
  /** Creates the reader of heads for one connection. */
  readonly heads?: () => ReadHead
}

const MAX_FAULTS = 5

const ownHeads = (): ReadHead => {
  const reader = new FastHeadReader()
  return (bytes) => reader.read(bytes)
}

/**
 * Reads mutated streams with the fast path and with llhttp. Whatever the fast path reads must be what llhttp reads, and llhttp
 * must read the rest as if it had read the beginning itself.
 */
export function compareReaders(mutated: MutatedStreams, options: ComparisonOptions): Comparison {
  const { heads = ownHeads } = options
  const result: Comparison = { streams: 0, divisions: 0, fastRequests: 0, passedOn: 0, broken: 0, faults: [] }
  for (; result.streams < options.streams && result.faults.length < MAX_FAULTS; result.streams += 1) {
    const stream = mutated.next()
    const expected = readWithLlhttp(stream)
    if (expected.isBroken) result.broken += 1
    const check = (pieces: readonly Buffer[], pace: Pace): boolean => {
      result.divisions += 1
      const { requests, rest } = readWithFastPath(pieces, pace, heads())
      result.fastRequests += requests.length
      const fault = difference(requests, rest, expected)
      if (rest !== undefined) result.passedOn += 1
      if (fault !== undefined) result.faults.push(`${fault}: ${JSON.stringify(pieces.map(asText))}`)
      return fault === undefined
    }
    if (!check([stream], { answersLate: false, isFull: false })) continue
    for (let count = 0; count < options.divisions; count += 1) {
      if (!check(divided(stream, mutated), { answersLate: count % 2 === 1, isFull: mutated.below(2) === 0 })) break
    }
    if (result.streams % options.everyPlaceOf !== 0) continue
    for (let at = 1; at < stream.length; at += 1) {
      if (!check([stream.subarray(0, at), stream.subarray(at)], { answersLate: at % 2 === 1, isFull: false })) break
    }
  }
  return result
}

/** Divides a stream at up to three random places, or where its requests end, which clients do. */
function divided(stream: Buffer, mutated: MutatedStreams): Buffer[] {
  const places: number[] = []
  if (mutated.below(4) > 0) {
    for (let at = stream.indexOf('POST /', 1); at !== -1; at = stream.indexOf('POST /', at + 1)) places.push(at)
  }
  for (let count = mutated.below(3); count > 0; count -= 1) places.push(mutated.below(stream.length + 1))
  places.sort((a, b) => a - b)
  const pieces: Buffer[] = []
  let from = 0
  for (const at of [...places, stream.length]) {
    if (at > from) pieces.push(stream.subarray(from, at))
    from = Math.max(from, at)
  }
  return pieces
}

function difference(
  requests: readonly ReadRequest[],
  rest: Buffer | undefined,
  expected: ReturnType<typeof readWithLlhttp>,
): string | undefined {
  for (const [index, request] of requests.entries()) {
    const other = expected.requests[index]
    if (other === undefined) return `llhttp does not read request ${index}`
    if (!isEqual(request, other)) return `llhttp reads request ${index} differently`
  }
  const followers = expected.requests.slice(requests.length)
  if (rest === undefined) {
    if (followers.length > 0) return 'llhttp reads more requests'
    const endsConnection = requests.at(-1)?.keepsAlive === false
    return expected.isBroken && !endsConnection ? 'llhttp finds an error' : undefined
  }
  const read = readWithLlhttp(rest)
  if (read.isBroken !== expected.isBroken) return 'the rest is broken for one reading only'
  if (read.requests.length !== followers.length) return 'the rest has another number of requests'
  return read.requests.every((request, index) => isEqual(request, followers[index]!)) ? undefined : 'the rest differs'
}

function isEqual(one: ReadRequest, other: ReadRequest): boolean {
  return (
    one.method === other.method &&
    one.target === other.target &&
    one.body === other.body &&
    one.isComplete === other.isComplete &&
    one.keepsAlive === other.keepsAlive &&
    isEqualHeaders(one.headers, other.headers)
  )
}

/** Compares headers in their order. The fast path has moved the only Content-Length to the end. */
function isEqualHeaders(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  const [first, second] = [withLengthLast(one), withLengthLast(other)]
  return first.every((text, index) => text === second[index])
}

function withLengthLast(headers: readonly string[]): string[] {
  const others: string[] = []
  const lengths: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const isLength = headers[at]!.toLowerCase() === 'content-length'
    if (isLength) lengths.push('content-length', headers[at + 1]!)
    else others.push(headers[at]!, headers[at + 1]!)
  }
  return [...others, ...lengths]
}

const asText = (piece: Buffer): string => piece.toString('latin1')
