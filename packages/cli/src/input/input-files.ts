import { constants, createReadStream, type Stats } from 'node:fs'
import { access, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { type Environment, UsageError } from '../process/environment.ts'
import { orUsageError } from '../process/system-error.ts'

/** One input, not opened yet. */
export interface InputFile {
  /** The name in messages. */
  readonly name: string
  /** The length of a regular file. */
  readonly bytes: number | undefined
  /** Whether the name ends with an NDJSON extension. */
  readonly ndjson: boolean
  /** Whether the name ends with `.gz`, so that `bytes` is not the length of the content. */
  readonly compressed?: boolean
  /** Whether `open` may be called more than once. */
  readonly rereadable?: boolean
  open(): Readable
}

const ndjsonName = /\.(?:ndjson|jsonl)(?:\.gz)?$/i
const compressedName = /\.gz$/i
/** Matches the files that are read from a directory. */
const recordFileName = /\.(?:json|ndjson|jsonl)(?:\.gz)?$/i

/**
 * Returns the files for the arguments: `-` is standard input; a directory means its files `*.json`, `*.ndjson` and
 * `*.jsonl`, optionally with `.gz`, in sorted order. An abort ends the reading.
 *
 * @throws {UsageError} if a path does not exist, may not be read or is named twice
 */
export async function findInputFiles(
  names: readonly string[],
  environment: Pick<Environment, 'stdin'>,
  signal: AbortSignal,
): Promise<InputFile[]> {
  if (names.filter((name) => name === '-').length > 1) throw new UsageError('standard input (-) can be read once only')
  const files: InputFile[] = []
  for (const name of names) {
    if (name === '-') files.push(standardInput(environment, signal))
    else files.push(...(await filesAt(name, signal)))
  }
  return files
}

function standardInput(environment: Pick<Environment, 'stdin'>, signal: AbortSignal): InputFile {
  return { name: 'stdin', bytes: undefined, ndjson: false, open: () => addAbortSignal(signal, environment.stdin) }
}

async function filesAt(path: string, signal: AbortSignal): Promise<InputFile[]> {
  const stats = await readableStats(path)
  if (!stats.isDirectory()) return [fileAt(path, stats, signal)]
  const entries = await orUsageError(path, readdir(path))
  const names = entries.filter((entry) => recordFileName.test(entry)).sort()
  if (names.length === 0)
    throw new UsageError(`${path}: no *.json, *.ndjson or *.jsonl (or these with .gz) in this directory`)
  const paths = names.map((name) => join(path, name))
  const found: InputFile[] = []
  for (const each of paths) found.push(fileAt(each, await readableStats(each), signal))
  return found
}

async function readableStats(path: string): Promise<Stats> {
  await orUsageError(path, access(path, constants.R_OK))
  return orUsageError(path, stat(path))
}

function fileAt(path: string, stats: Stats, signal: AbortSignal): InputFile {
  return {
    name: path,
    bytes: stats.isFile() ? stats.size : undefined,
    ndjson: ndjsonName.test(path),
    compressed: compressedName.test(path),
    rereadable: stats.isFile(),
    open: () => createReadStream(path, { signal }),
  }
}
