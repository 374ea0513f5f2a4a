// The entry point of a thread of searches. It runs statements one at a time, on a connection of its own.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { withStatementCache } from '../statements/statement-cache.ts'
import { StatementConnection } from '../statements/statement-connection.ts'
import { SearchBudget, SearchBudgetError } from './search-budget.ts'
import { addSearchFunctions } from './search-functions.ts'
import type { FromSearchThread, SearchThreadData, ToSearchThread } from './search-messages.ts'

/** The number of characters after which rows are sent, and the next ones wait until they are wanted. */
const CHARACTERS_PER_MESSAGE = 1_000_000
const BUSY_TIMEOUT_MS = 1_000

const port: MessagePort = parentPort!
const { file, budgetMs } = workerData as SearchThreadData
const database = new Sqlite(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
database.pragma('query_only = ON')
const budget = new SearchBudget(budgetMs)
addSearchFunctions(database, budget)
const connection = new StatementConnection(withStatementCache(database))
let rows: Iterator<object> | undefined
let pausedMs = 0

port.on('message', (message: ToSearchThread) => {
  switch (message.kind) {
    case 'run':
      budget.begin()
      return answer(() => {
        rows = connection.rows(message)
      })
    case 'next':
      budget.extend(performance.now() - pausedMs)
      return answer(() => {})
    case 'stop':
      rows?.return?.()
      rows = undefined
      return
    case 'close':
      database.close()
      port.close()
  }
})

function answer(prepare: () => void): void {
  let message: FromSearchThread
  try {
    prepare()
    message = nextRows(rows!)
  } catch (error) {
    rows = undefined
    message = toFailure(error)
  }
  pausedMs = performance.now()
  port.postMessage(message)
}

function nextRows(from: Iterator<object>): FromSearchThread {
  const found: object[] = []
  for (let characters = 0; characters < CHARACTERS_PER_MESSAGE; ) {
    const { done, value } = from.next()
    if (done) return { kind: 'rows', rows: found, isLast: true }
    found.push(value)
    for (const cell of Object.values(value)) if (typeof cell === 'string') characters += cell.length
  }
  return { kind: 'rows', rows: found, isLast: false }
}

function toFailure(error: unknown): FromSearchThread {
  if (error instanceof SearchBudgetError) return { kind: 'failure', reason: 'budget' }
  if (error instanceof Sqlite.SqliteError) {
    return { kind: 'failure', reason: 'database', message: error.message, code: error.code }
  }
  return { kind: 'failure', reason: 'other', message: String(error), code: '' }
}
