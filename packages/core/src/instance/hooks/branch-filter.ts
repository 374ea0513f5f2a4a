import { isRefName } from '../../base/git/repository-path.ts'
import { compiledRegex } from '../../base/kit/user-regex.ts'

export const branchFilterStrategies = ['wildcard', 'regex', 'all_branches'] as const
export type BranchFilterStrategy = (typeof branchFilterStrategies)[number]

const MAX_WILDCARDS = 4_000

/** Returns the filter in its stored form: without repeated white space, and `undefined` if all branches match. */
export function storedFilter(strategy: BranchFilterStrategy, filter: string | undefined): string | undefined {
  if (strategy === 'all_branches') return undefined
  const squeezed = strategy === 'wildcard' ? filter?.trim().replaceAll(/\s+/g, ' ') : filter
  return squeezed?.trim() ? squeezed : undefined
}

/** Returns whether a filter can be stored. */
export function isBranchFilter(strategy: BranchFilterStrategy, filter: string | undefined): boolean {
  if (filter === undefined) return true
  if (strategy === 'wildcard') return filter.length <= MAX_WILDCARDS && isRefName(filter.replaceAll('*', 'a'))
  return compiledRegex(filter) !== undefined
}

/** Returns whether a hook with this filter is called for a push to a branch. */
export function matchesBranch(strategy: BranchFilterStrategy, filter: string | undefined, branch: string): boolean {
  if (filter === undefined || strategy === 'all_branches') return true
  return strategy === 'wildcard' ? matchesWildcard(filter, branch) : compiledRegex(filter)?.test(branch) === true
}

/** Compares the whole name; `*` matches any characters. Takes at most the product of both lengths in steps. */
function matchesWildcard(filter: string, name: string): boolean {
  const parts = filter.split('*')
  if (parts.length === 1) return filter === name
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  const end = name.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
