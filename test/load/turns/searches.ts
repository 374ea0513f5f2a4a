import { type ProbedService, secrets } from './probed-service.ts'

/** The texts that are searched: 100 MB in the descriptions of issues. */
const ISSUES = 100
const CHARACTERS = 1_000_000

export interface Search {
  readonly what: string
  readonly path: string
  /** A GraphQL document, which is posted to the path. */
  readonly query?: string
}

/**
 * Searches that have to compare every text and find none. The texts and the long term consist of two letters, so that every text
 * has all parts of the term; the short term is in no index.
 */
const long = letters(254, 7)
const terms = { 'a term of 254 letters': long, 'a term of two letters': 'zz' }
export const searches: readonly Search[] = Object.entries(terms).flatMap(([what, term]) => [
  { what: `issues with ${what}`, path: `/api/v4/issues?scope=all&search=${term}` },
  { what: `issues of a project with ${what}`, path: `/api/v4/projects/1/issues?search=${term}` },
  { what: `statistics with ${what}`, path: `/api/v4/issues_statistics?scope=all&search=${term}` },
  {
    what: `GraphQL with ${what}`,
    path: '/api/graphql',
    query: `{ issues(state: opened, search: "${term}", first: 10) { count nodes { iid } } }`,
  },
])

/** Creates the issues in the project 1. */
export async function addLongTexts({ coreUrl }: ProbedService): Promise<void> {
  for (let issue = 1; issue <= ISSUES; issue += 1) {
    const response = await fetch(`${coreUrl}/api/v4/projects/1/issues`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': secrets.rootToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: `Long text ${issue}`, description: letters(CHARACTERS, issue) }),
    })
    if (response.status !== 201) throw new Error(`an issue: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
}

/** Sends a search, and returns the status of the answer. */
export async function search({ coreUrl }: ProbedService, { path, query }: Search, timeoutMs: number): Promise<number> {
  const response = await fetch(coreUrl + path, {
    headers: { Authorization: `Bearer ${secrets.rootToken}`, 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
    ...(query !== undefined && { method: 'POST', body: JSON.stringify({ query }) }),
  })
  await response.arrayBuffer()
  return response.status
}

/** Returns letters a and b, which differ for each seed. */
function letters(count: number, seed: number): string {
  let state = seed * 2_654_435_761
  const found = Buffer.alloc(count)
  for (let index = 0; index < count; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    found[index] = 97 + (state >>> 31)
  }
  return found.toString('latin1')
}
