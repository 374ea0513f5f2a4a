import type Sqlite from 'better-sqlite3'
import { folded } from '../rows/folded-text.ts'
import type { SearchBudget } from './search-budget.ts'
import { searchTokens } from './search-tokens.ts'

/**
 * Adds the SQL functions of searches to a connection:
 *
 * - `folded(text)`
 * - `search_tokens(text, …)`, which the triggers of `addSearchIndex` call
 * - `contains_words(words, text, …)`, whether each of the words, a JSON array, occurs in one of the texts
 */
export function addSearchFunctions(database: Sqlite.Database, budget?: SearchBudget): void {
  const options = { deterministic: true, varargs: true }
  database.function('folded', { deterministic: true }, (text) => (typeof text === 'string' ? folded(text) : text))
  database.function('search_tokens', options, (...texts) => searchTokens(texts))
  let wanted = { json: '[]', words: [] as readonly string[] }
  database.function('contains_words', options, (json: unknown, ...texts: unknown[]) => {
    budget?.check()
    if (json !== wanted.json) {
      wanted = { json: json as string, words: (JSON.parse(json as string) as string[]).map(folded) }
    }
    const found = texts.flatMap((text) => (typeof text === 'string' ? folded(text) : []))
    return wanted.words.every((word) => found.some((text) => text.includes(word))) ? 1 : 0
  })
}
