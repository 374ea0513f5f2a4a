import { isUtf8 } from 'node:buffer'
import { capturedBody, parseLossless, RecordError } from '@penstock/forges'
import type { Signal } from '@penstock/otlp'
import { isSystemError, systemReason } from '../process/system-error.ts'
import { formatCount } from '../text/wording.ts'
import { decodedBytes } from './input-decoding.ts'
import type { InputFile } from './input-files.ts'
import { type Line, LineReader } from './line-reader.ts'

/** The place of a body in the input. */
export interface Place {
  readonly file: string
  /** The line of NDJSON, counted from 1. */
  readonly line: number | undefined
  /** The index in a list, counted from 0. */
  readonly index: number | undefined
}

/** A parsed body, or the reason why it could not be read. */
export type Reading =
  | {
      readonly kind: 'body'
      readonly place: Place
      readonly body: unknown
      /** The length of the document; for an item of a list, its share of that length. */
      readonly documentBytes?: number
      /** The signals to deliver; `undefined` for all signals without a record of their acceptance. */
      readonly outstanding?: Outstanding | undefined
      /** Whether the body was put together from jobs of the REST API. */
      readonly isJobGroup?: boolean
    }
  | { readonly kind: 'fault'; readonly place: Place; readonly error: RecordError }

/** The signals of a record that are still to be delivered, and the callback that records their acceptance. */
export interface Outstanding {
  readonly signals: readonly Signal[]
  /** Called when all items of the signal have been accepted. Items that the receiver rejected are treated as accepted. */
  accepted(signal: Signal): void
}

interface ReadLimits {
  /** The maximum length of one JSON document: a file, or a line of NDJSON. NDJSON as a whole may have any length. */
  readonly maxDocumentBytes: number
}

export const defaultMaxDocumentBytes = 64 * 1024 * 1024

/**
 * Yields the bodies of a file in order: one JSON value, the items of a JSON array, or one of these per line (NDJSON).
 *
 * If the first line is valid JSON by itself, the file is read line by line and may have any length; otherwise it is one
 * document. A file with an NDJSON name is always read by lines. At most one document is held in memory.
 *
 * Files compressed with gzip are inflated, UTF-16 is transcoded; `onRead` counts the bytes as they are in the file.
 */
export async function* readBodies(
  file: InputFile,
  limits: ReadLimits,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Reading> {
  const reader = new LineReader(decodedBytes(observed(file.open(), onRead)), limits.maxDocumentBytes)
  try {
    yield* readingsOf(file, reader, limits)
  } catch (error) {
    if (error instanceof RecordError) yield fault(placeOf(file), error)
    else if (isSystemError(error))
      yield fault(placeOf(file), new RecordError('', `cannot be read: ${systemReason(error)}`))
    else throw error
  } finally {
    await reader.close()
  }
}

async function* observed(
  source: AsyncIterable<Uint8Array>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of source) {
    onRead(bytes.length)
    yield bytes
  }
}

async function* readingsOf(file: InputFile, reader: LineReader, limits: ReadLimits): AsyncGenerator<Reading> {
  const first = await nextFilledLine(reader)
  if (first === undefined) {
    yield fault(placeOf(file), new RecordError('', 'contains no record'))
    return
  }
  const reading = readLine(file, first, limits)
  if (reading.kind === 'body' || file.ndjson) {
    yield* restOfLines(file, reader, first, reading, limits)
  } else if (first.bytes === undefined) {
    yield fault(placeOf(file), tooLong(limits))
  } else {
    yield* readDocument(file, reader, { first, bytes: first.bytes, limits })
  }
}

async function* restOfLines(
  file: InputFile,
  reader: LineReader,
  first: Line,
  firstReading: Reading,
  limits: ReadLimits,
): AsyncGenerator<Reading> {
  let reading = firstReading
  for (let line: Line | undefined = first; line !== undefined; ) {
    yield* itemsOf(reading)
    if (line.bytes === undefined) await reader.skipLine()
    line = await nextFilledLine(reader)
    if (line !== undefined) reading = readLine(file, line, limits)
  }
}

interface DocumentStart {
  readonly first: Line
  readonly bytes: Buffer
  readonly limits: ReadLimits
}

/** Reads a document. A regular file that is too long is not read, because its length is known. */
async function* readDocument(
  file: InputFile,
  reader: LineReader,
  { first, bytes, limits }: DocumentStart,
): AsyncGenerator<Reading> {
  const { maxDocumentBytes } = limits
  const isShort = file.bytes === undefined || file.compressed || file.bytes <= maxDocumentBytes
  const rest = isShort ? await reader.rest(maxDocumentBytes - bytes.length) : undefined
  if (rest === undefined) {
    yield fault(placeOf(file), tooLong(limits))
    return
  }
  const document = rest.length === 0 ? bytes : Buffer.concat([bytes, Buffer.from('\n'), rest])
  const reading = parsed(placeOf(file), document, first.number)
  if (reading.kind === 'fault' && isDamagedNdjson(bytes, rest)) {
    for (const line of linesIn(document, first.number)) yield* itemsOf(readLine(file, line, limits))
  } else {
    yield* itemsOf(reading)
  }
}

/** Returns whether the input is NDJSON with a truncated first line: an incomplete object above a complete one. */
function isDamagedNdjson(first: Buffer, rest: Buffer): boolean {
  const end = rest.indexOf('\n')
  const second = end < 0 ? rest : rest.subarray(0, end)
  return startsObject(first) && startsObject(second) && parsed(nowhere, second, 1).kind === 'body'
}

const startsObject = (bytes: Buffer): boolean => bytes.toString('utf8', 0, 64).trimStart().startsWith('{')
const nowhere: Place = { file: '', line: undefined, index: undefined }

function* linesIn(document: Buffer, firstNumber: number): Generator<Line> {
  let number = firstNumber
  for (let start = 0; start < document.length; number++) {
    const feed = document.indexOf('\n', start)
    const end = feed < 0 ? document.length : feed
    const bytes = document.subarray(start, end)
    if (isFilled(bytes)) yield { number, bytes }
    start = end + 1
  }
}

async function nextFilledLine(reader: LineReader): Promise<Line | undefined> {
  let line = await reader.next()
  while (line?.bytes !== undefined && !isFilled(line.bytes)) line = await reader.next()
  return line
}

/** Returns whether a line has content. A byte order mark alone is no content. */
const isFilled = (bytes: Buffer): boolean =>
  bytes.some((byte, at) => !blanks.includes(byte) && byte !== byteOrderMark[at])

/** The bytes that are blanks in JSON. */
const blanks = [...Buffer.from(' \t\r\n')]
const byteOrderMark = [0xef, 0xbb, 0xbf]

function readLine(file: InputFile, { number, bytes }: Line, limits: ReadLimits): Reading {
  const place = { ...placeOf(file), line: number }
  return bytes === undefined ? fault(place, tooLong(limits)) : parsed(place, bytes, number)
}

/** Parses a document. `firstLine` is the line of the file in which `bytes` begins. */
function parsed(place: Place, bytes: Buffer, firstLine: number): Reading {
  if (!isUtf8(bytes)) return fault(place, new RecordError('', 'is not JSON in UTF-8'))
  try {
    return { kind: 'body', place, body: parseLossless(bytes.toString()), documentBytes: bytes.length }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    const start = bytes.toString('utf8', 0, 64).trimStart()
    const known = notJson.find(({ sign }) => start.startsWith(sign))
    if (known !== undefined) return fault(place, new RecordError('', known.reason))
    return fault(place, movedTo(firstLine, error))
  }
}

/** Contents that are often saved instead of JSON, and how to recognise them. */
const notJson = [
  { sign: '<', reason: 'is HTML or XML, not JSON; it may be the error page of a server or a proxy' },
  { sign: 'HTTP/', reason: 'begins with the headers of an HTTP answer, not with JSON; save its body alone' },
]

function movedTo(firstLine: number, { path, reason, line = 1, column = 1 }: RecordError): RecordError {
  return new RecordError(path, reason, { line: line + firstLine - 1, column })
}

function* itemsOf(reading: Reading): Generator<Reading> {
  if (reading.kind === 'fault' || !Array.isArray(reading.body)) {
    yield* bodiesIn(reading)
    return
  }
  const { place, body, documentBytes = 0 } = reading
  for (const [index, item] of body.entries()) {
    // Pages of a REST API may be saved as a list of lists.
    const items = Array.isArray(item) ? item : [item]
    const rest = { place: { ...place, index }, documentBytes: documentBytes / body.length / items.length }
    for (const each of items) yield* bodiesIn({ kind: 'body', ...rest, body: each })
  }
}

/** Yields the body, or the body of a captured request if a tool saved it with its headers. */
function* bodiesIn(reading: Reading): Generator<Reading> {
  if (reading.kind === 'fault' || typeof reading.body !== 'object' || reading.body === null) {
    yield reading
    return
  }
  const captured = capturedBody(reading.body as Parameters<typeof capturedBody>[0])
  if (captured === undefined) yield reading
  else if (typeof captured !== 'string') yield { ...reading, body: captured }
  else yield capturedText(reading, captured)
}

function capturedText(reading: Extract<Reading, { kind: 'body' }>, text: string): Reading {
  try {
    return { ...reading, body: parseLossless(text) }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    return fault(reading.place, new RecordError('body of a captured request', error.reason))
  }
}

function tooLong({ maxDocumentBytes }: ReadLimits): RecordError {
  const limit = `${formatCount(maxDocumentBytes)} bytes`
  return new RecordError(
    '',
    `is longer than ${limit}, the limit for one JSON document (--max-file-bytes); NDJSON, one record per line, may be of any length`,
  )
}

function fault(place: Place, error: RecordError): Reading {
  return { kind: 'fault', place, error }
}

function placeOf(file: InputFile): Place {
  return { file: file.name, line: undefined, index: undefined }
}
