import { EVERY_ENVIRONMENT, type Variable } from './variable.ts'

/** The circumstances under which variables are requested. */
export interface VariableCircumstances {
  /** The names of the environments of a pipeline's jobs. */
  readonly environments: readonly string[]
  readonly isProtectedRef: boolean
}

/**
 * Returns one variable for each key, ordered by key.
 *
 * Only variables with a matching scope and protection count. The nearest level wins, whatever the scopes. Within a level the
 * most specific scope wins: the exact name of an environment, then the scope with the most characters other than `*`, then
 * the first in alphabetical order.
 *
 * @param levels the variables of the project, then of its groups from the nearest up
 */
export function effectiveVariables<One extends Pick<Variable, 'key' | 'isProtected' | 'environmentScope'>>(
  levels: readonly (readonly One[])[],
  { environments, isProtectedRef }: VariableCircumstances,
): One[] {
  const chosen = new Map<string, One>()
  for (const level of levels) {
    const ofLevel = new Map<string, One>()
    for (const variable of level) {
      if (chosen.has(variable.key)) continue
      if ((variable.isProtected && !isProtectedRef) || !isInScope(variable.environmentScope, environments)) continue
      const current = ofLevel.get(variable.key)
      if (current === undefined || isMoreSpecific(variable.environmentScope, current.environmentScope)) {
        ofLevel.set(variable.key, variable)
      }
    }
    for (const [key, variable] of ofLevel) chosen.set(key, variable)
  }
  return [...chosen.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const isInScope = (scope: string, environments: readonly string[]): boolean =>
  scope === EVERY_ENVIRONMENT || environments.some((environment) => scopeMatches(scope, environment))

/**
 * Returns whether a scope matches an environment. `*` matches any characters, or none. The time is at most proportional to
 * the product of both lengths.
 */
export function scopeMatches(scope: string, environment: string): boolean {
  const [first, ...rest] = scope.split('*') as [string, ...string[]]
  if (rest.length === 0) return scope === environment
  const last = rest.pop()!
  if (!environment.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = environment.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return environment.length - last.length >= at && environment.endsWith(last)
}

function isMoreSpecific(scope: string, other: string): boolean {
  const [isExact, otherIsExact] = [!scope.includes('*'), !other.includes('*')]
  if (isExact !== otherIsExact) return isExact
  const byLength = scope.replaceAll('*', '').length - other.replaceAll('*', '').length
  if (byLength !== 0 && !isExact) return byLength > 0
  return scope < other
}
