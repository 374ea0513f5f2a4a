import { constants } from 'node:fs'
import { access, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type AccumulatorState, newAccumulator, type StreamState } from '@penstock/converter'
import { UsageError } from './environment.ts'
import { isSystemError, orOutputError, orUsageError } from './system-error.ts'

/** Says what the file is, and in which form. */
const format = 'penstock cumulative metrics 1'

interface StateDocument {
  readonly format: string
  readonly startNs: bigint
  readonly lastNs: bigint
  readonly streams: readonly (readonly [string, StreamState])[]
}

/**
 * Running totals of earlier runs; fresh ones where there is no file yet.
 *
 * @throws {UsageError} for a file that is none of ours (starting from zero again is for people to decide), and for a place
 * where it could not be written
 */
export async function loadState(path: string, nowNs: bigint): Promise<AccumulatorState> {
  await orUsageError(`cannot write to ${dirname(path)}`, access(dirname(path), constants.W_OK))
  const text = await orUsageError(`cannot read ${path}`, readIfThere(path))
  if (text === undefined) return newAccumulator('cumulative', nowNs)
  const document = parseDocument(text)
  if (document === undefined) {
    throw new UsageError(`${path} is no state file of penstock export; remove it to start from zero`)
  }
  return { mode: 'cumulative', startNs: document.startNs, lastNs: document.lastNs, streams: new Map(document.streams) }
}

/**
 * Complete or not at all, also when the machine stops half-way.
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

/** No object of the state has keys that others have chosen, so the tag cannot be mistaken. */
const tag = 'bigint'

function tagBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { [tag]: String(value) } : value
}

function untagBigInts(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !(tag in value)) return value
  return BigInt(String(value[tag]))
}
