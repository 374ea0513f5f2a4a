import { constants } from 'node:fs'
import { access, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type AccumulatorState, newAccumulator, type StreamState } from '@penstock/converter'
import { UsageError } from '../process/environment.ts'
import { isSystemError, orOutputError, orUsageError } from '../process/system-error.ts'

/** The name and version of the file format. */
const format = 'penstock cumulative metrics 1'

interface StateDocument {
  readonly format: string
  readonly startNs: bigint
  readonly lastNs: bigint
  readonly streams: readonly (readonly [string, StreamState])[]
}

/**
 * Reads the running totals of earlier runs; returns new ones if there is no file yet.
 *
 * @throws {UsageError} if its directory is not writable, or if the file has another format: only the user may decide to
 *   start from zero
 */
export async function loadState(path: string, nowNs: bigint): Promise<AccumulatorState> {
  await orUsageError(`cannot write to ${dirname(path)}`, access(dirname(path), constants.W_OK))
  const text = await orUsageError(`cannot read ${path}`, readIfThere(path))
  if (text === undefined) return newAccumulator('cumulative', nowNs)
  const document = parseDocument(text)
  if (document === undefined) {
    throw new UsageError(`${path} is not a state file of penstock export; remove it to start from zero`)
  }
  return { mode: 'cumulative', startNs: document.startNs, lastNs: document.lastNs, streams: new Map(document.streams) }
}

/**
 * Writes the totals atomically, so that a crash leaves either the old or the new file.
 *
 * @throws {OutputError}
 */
export async function saveState(path: string, state: AccumulatorState): Promise<void> {
  const document: StateDocument = { format, startNs: state.startNs, lastNs: state.lastNs, streams: [...state.streams] }
  const text = JSON.stringify(document, tagBigInts)
  await orOutputError(`cannot write ${path}`, replaceFile(path, text))
}

async function replaceFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.tmp`
  const file = await open(unfinished, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parseDocument(text: string): StateDocument | undefined {
  try {
    const document = JSON.parse(text, untagBigInts) as Partial<StateDocument> | null
    const { startNs, lastNs, streams } = document ?? {}
    const isOurs = typeof startNs === 'bigint' && typeof lastNs === 'bigint' && Array.isArray(streams)
    return document?.format === format && isOurs ? (document as StateDocument) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The key that marks a BigInt. It is unambiguous, because no object of the state has keys from input. */
const tag = 'bigint'

function tagBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { [tag]: String(value) } : value
}

function untagBigInts(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(tag in value)) return value
  return BigInt(String(value[tag]))
}
