import { DomainError, type Failure } from '@penstock/core'
import { RequestProblem } from '@penstock/http'
import { pipelinesArea } from '../areas/pipelines.ts'
import { readDocument } from '../routing/document.ts'

/** A document that a worker thread reads. */
export interface DocumentTask {
  /** The name of the route's operation. */
  readonly operation: string
  readonly bytes: Uint8Array
  readonly inPath: object
}

/** A piece of a validated input, small enough to cross to the main thread in one turn. */
export type DocumentPart =
  | { readonly kind: 'invalid_json' }
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** The input, with its long lists emptied. The items of these lists follow as parts. */
  | { readonly kind: 'input'; readonly input: object }
  | { readonly kind: 'items'; readonly key: string; readonly items: readonly unknown[] }

/** The number of items in one part; receiving that many takes about a millisecond. */
const ITEMS_PER_PART = 500

/** The routes that accept documents, by the names of their operations. */
const rows = new Map(
  pipelinesArea.routes.filter(({ bodyTextAs }) => bodyTextAs !== undefined).map((row) => [row.operation.name, row]),
)

/** Reads a document in the worker thread, and yields its validated input in parts. */
export function* documentParts({ operation, bytes, inPath }: DocumentTask): Generator<DocumentPart> {
  let input: object
  try {
    input = readDocument(rows.get(operation)!, bytes, inPath)
  } catch (error) {
    yield refusalOf(error)
    return
  }
  const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > ITEMS_PER_PART
  yield {
    kind: 'input',
    input: Object.fromEntries(Object.entries(input).map(([key, value]) => [key, isLong(value) ? [] : value])),
  }
  for (const [key, value] of Object.entries(input)) {
    if (!isLong(value)) continue
    for (let at = 0; at < value.length; at += ITEMS_PER_PART) {
      yield { kind: 'items', key, items: value.slice(at, at + ITEMS_PER_PART) }
    }
  }
}

function refusalOf(error: unknown): DocumentPart {
  if (error instanceof RequestProblem && error.problem.kind === 'invalid_json') return { kind: 'invalid_json' }
  if (error instanceof DomainError) return { kind: 'refused', failure: error.failure }
  throw error
}

/**
 * Joins the parts of a validated input in the main thread.
 *
 * @throws the errors of `readDocument`
 */
export function joinDocument(parts: readonly DocumentPart[]): object {
  let input: Record<string, unknown> = {}
  for (const part of parts) {
    switch (part.kind) {
      case 'invalid_json':
        throw new RequestProblem({ kind: 'invalid_json' })
      case 'refused':
        throw new DomainError(part.failure)
      case 'input':
        input = part.input as Record<string, unknown>
        break
      case 'items':
        ;(input[part.key] as unknown[]).push(...part.items)
    }
  }
  return input
}
