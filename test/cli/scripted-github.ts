import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'

export interface GithubRun {
  readonly id: number
  readonly attempts?: number
  readonly jobs?: number
  /** The creation time in seconds after 2026-02-11T09:00:00Z. Default: the id, a minute each. */
  readonly createdAfter?: number
  readonly status?: 'completed' | 'in_progress'
}

type Trouble = (request: RecordedRequest, index: number) => ScriptedReply | undefined

export const githubToken = 'ghp-canary-7'

const beginMs = Date.parse('2026-02-11T09:00:00Z')
/** The number of runs of a search that GitHub lists. */
const MAX_LISTED = 1_000

/** A server with the part of GitHub's REST API that a backfill reads, for ferrous-labs/anvil. Tests may change its runs. */
export class ScriptedGithub {
  runs: readonly GithubRun[]
  token = githubToken
  trouble: Trouble = () => undefined
  server!: ScriptedServer

  static async start(runs: readonly GithubRun[]): Promise<ScriptedGithub> {
    const github = new ScriptedGithub(runs)
    github.server = await ScriptedServer.start(
      (request, index) => github.trouble(request, index) ?? github.#reply(request),
    )
    onTestFinished(() => github.server.close())
    return github
  }

  private constructor(runs: readonly GithubRun[]) {
    this.runs = runs
  }

  /** The paths of the requests, without `/api/v3/repos/ferrous-labs/anvil/actions`. */
  get paths(): string[] {
    return this.server.requests.map(({ path }) => path.replace('/api/v3/repos/ferrous-labs/anvil/actions', ''))
  }

  #reply({ path, headers }: RecordedRequest): ScriptedReply {
    if (headers.authorization !== `Bearer ${this.token}`) return json({ message: 'Bad credentials' }, 401)
    const { pathname, searchParams } = new URL(path, this.server.url)
    const part = pathname.replace('/api/v3/repos/ferrous-labs/anvil/actions/runs', '')
    if (part === '') return this.#list(searchParams)
    const [, id, attempt, jobs] = /^\/(\d+)(?:\/attempts\/(\d+)(\/jobs)?)?$/.exec(part) ?? []
    const run = this.runs.find((each) => String(each.id) === id)
    if (run === undefined || Number(attempt ?? 1) > (run.attempts ?? 1)) return json({ message: 'Not Found' }, 404)
    const number = Number(attempt ?? run.attempts ?? 1)
    if (jobs === undefined) return json(runJson(run, number))
    return page('jobs', jobsOf(run, number), searchParams)
  }

  #list(query: URLSearchParams): ScriptedReply {
    const [from = '', until = ''] = query.get('created')?.split('..') ?? []
    const found = this.runs
      .filter((run) => createdMs(run) >= Date.parse(from) && createdMs(run) <= Date.parse(until))
      .toSorted((a, b) => createdMs(b) - createdMs(a))
      .map((run) => runJson(run, run.attempts ?? 1))
    return page('workflow_runs', found, query)
  }
}

const createdMs = ({ id, createdAfter = id * 60 }: GithubRun): number => beginMs + createdAfter * 1_000
const isoOf = (ms: number): string => new Date(ms).toISOString().replace('.000', '')

function runJson(run: GithubRun, attempt: number) {
  const startedMs = createdMs(run) + (attempt - 1) * 3_600_000
  const { status = 'completed' } = run
  return {
    id: run.id,
    name: 'CI',
    node_id: 'x',
    head_branch: 'main',
    head_sha: 'a'.repeat(40),
    run_number: run.id,
    run_attempt: attempt,
    event: 'push',
    status,
    conclusion: status === 'completed' ? 'success' : null,
    workflow_id: 1,
    html_url: `https://github.example.com/ferrous-labs/anvil/actions/runs/${run.id}`,
    created_at: isoOf(createdMs(run)),
    run_started_at: isoOf(startedMs),
    updated_at: isoOf(startedMs + 60_000),
    repository: {
      id: 5,
      name: 'anvil',
      full_name: 'ferrous-labs/anvil',
      html_url: 'https://github.example.com/ferrous-labs/anvil',
    },
  }
}

const jobsOf = (run: GithubRun, attempt: number) =>
  Array.from({ length: run.jobs ?? 1 }, (_, at) => ({
    id: run.id * 100_000 + attempt * 1_000 + at,
    run_id: run.id,
    run_attempt: attempt,
    name: `job ${at}`,
    status: 'completed',
    conclusion: 'success',
    created_at: isoOf(createdMs(run) + (attempt - 1) * 3_600_000),
    started_at: isoOf(createdMs(run) + (attempt - 1) * 3_600_000 + 5_000),
    completed_at: isoOf(createdMs(run) + (attempt - 1) * 3_600_000 + 50_000),
    steps: [],
    runner_id: 1,
    labels: [],
  }))

function page(member: string, items: readonly object[], query: URLSearchParams): ScriptedReply {
  const [number, size] = [Number(query.get('page')), Number(query.get('per_page'))]
  const end = number * size
  const isLast = end >= Math.min(items.length, MAX_LISTED)
  return json({ total_count: items.length, [member]: items.slice(0, MAX_LISTED).slice(end - size, end) }, 200, {
    ...(items.length > size && {
      link: isLast ? '<https://x/?page=1>; rel="first"' : `<https://x/?page=${number + 1}>; rel="next"`,
    }),
  })
}

function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): ScriptedReply {
  return {
    play: 'reply',
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  }
}
