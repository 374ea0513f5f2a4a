import { createContext, Script } from 'node:vm'
import { refused } from '../git/commit-actions.ts'

/** The maximum time for matching all names of a request, because other requests have to wait meanwhile. */
const MAX_MATCH_MS = 20

const script = new Script('names.filter((name) => expression.test(name))')

/**
 * Returns the names that match a regular expression. A leading `(?i)` ignores case, as in RE2.
 *
 * @returns `undefined` for an invalid expression
 * @throws DomainError `refused` if matching takes too long
 */
export function namesMatching(pattern: string, names: readonly string[]): string[] | undefined {
  const plain = pattern.replace(/^\(\?i\)/, '')
  let expression: RegExp
  try {
    expression = new RegExp(plain, plain === pattern ? '' : 'i')
  } catch {
    return undefined
  }
  try {
    // Backtracking can take forever, so the match runs where it can be stopped.
    const matched: string[] = script.runInContext(createContext({ names, expression }), { timeout: MAX_MATCH_MS })
    return [...matched]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw refused('The regular expression takes too long')
  }
}
