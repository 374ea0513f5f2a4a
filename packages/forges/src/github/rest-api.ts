import { findActionsRun, readActionsRun, repositoryPath, toActionsRuns } from '../actions/rest-runs.ts'
import { apiAddress, bearer } from '../api/address.ts'
import { askPage, memberText, requirePage } from '../api/answers.ts'
import { type ListPage, listChanging } from '../api/listing.ts'
import type { Ask, ForgeApi, RunPage, RunQuery } from '../api/rest-api.ts'
import { isoSeconds } from '../api/run-lists.ts'
import { RecordError } from '../record/record-error.ts'

/** The number of runs that GitHub lists at most for a time. */
const MAX_LISTED = 1_000
const NS_PER_SECOND = 1_000_000_000n
/** 2018-01-01, before which GitHub ran no workflows. */
const FIRST_SECOND = 1_514_764_800n

const toApiUrl = apiAddress('/api/v3', {
  'github.com': 'https://api.github.com',
  'www.github.com': 'https://api.github.com',
  'api.github.com': 'https://api.github.com',
})

/** Enterprise accounts with data residency have hosts of their own below ghe.com. */
function apiUrl(server: URL): URL {
  if (!server.hostname.endsWith('.ghe.com')) return toApiUrl(server)
  return new URL(`https://${server.hostname.startsWith('api.') ? '' : 'api.'}${server.hostname}`)
}

export const api: ForgeApi = {
  apiUrl,
  credentials: bearer,
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  rateLimit: { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' },
  tokenNeeds: 'read access to Actions of the repository (scope repo of a classic token)',
  projectForm: 'owner/name',
  listRuns: async function* (ask, query) {
    const from = query.sinceNs === undefined ? FIRST_SECOND : query.sinceNs / NS_PER_SECOND
    const until = query.untilNs / NS_PER_SECOND
    if (from <= until) yield* listWindow(ask, query, { from, until })
  },
  readRun: (ask, reference) => readActionsRun(ask, reference, { per_page: 100 }),
  findRun: (hook) => {
    const found = findActionsRun(hook)
    // A job belongs to the attempt of its run that has the same number.
    const attempt = Number(memberText(hook, 'workflow_job', 'run_attempt') ?? 0) || found?.reference.attempt
    return found && { ...found, reference: { ...found.reference, attempt } }
  },
}

interface Window {
  /** The first second. */
  readonly from: bigint
  /** The last second. */
  readonly until: bigint
}

/** Yields the runs of a time, oldest first. A time with too many runs is split, because GitHub lists only some of them. */
async function* listWindow(ask: Ask, query: RunQuery, { from, until }: Window): AsyncGenerator<RunPage> {
  const { project, perPage } = query
  const path = `${repositoryPath(project)}/actions/runs`
  const created = `${isoSeconds(from * NS_PER_SECOND)}..${isoSeconds(until * NS_PER_SECOND)}`
  const list = { path, query: { created, per_page: perPage }, members: ['workflow_runs'] }
  const first = requirePage(path, await askPage(ask, list, 1))
  if ((first.total ?? 0) >= MAX_LISTED && from < until) {
    const middle = (from + until) / 2n
    yield { runs: [], total: first.total, bytes: first.bytes }
    yield* listWindow(ask, query, { from, until: middle })
    yield* listWindow(ask, query, { from: middle + 1n, until })
    return
  }
  yield* newestLast(project, first, async (number) => requirePage(path, await askPage(ask, list, number)))
  if ((first.total ?? 0) <= MAX_LISTED) return
  throw new RecordError(
    '',
    `${path}: more than ${MAX_LISTED} runs were created at ${created}, and GitHub lists no more of them`,
  )
}

async function* newestLast(
  project: string,
  first: ListPage,
  ask: (number: number) => Promise<ListPage>,
): AsyncGenerator<RunPage> {
  let isFirst = true
  const fetch = async (number: number): Promise<ListPage> => {
    if (number > 1 || !isFirst) return ask(number)
    isFirst = false
    return first
  }
  const pages: ListPage[] = []
  for await (const page of listChanging({ path: 'runs', fetch, maxItems: 2 * MAX_LISTED })) pages.push(page)
  const items = pages.flatMap((page) => page.items).toReversed()
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0)
  yield { runs: items.flatMap(({ value }) => toActionsRuns(project, value)), total: first.total, bytes }
}
