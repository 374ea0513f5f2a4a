/**
 * Measures the cost of a call of the core's REST API compared with a bare handler of the same list, and in long lists:
 * `npm run bench:core`, or only the named parts of it, of which the last one needs PostgreSQL:
 * `npm run bench:core -- bare lists requests snippets postgres`. It needs wrk. If PostgreSQL is not installed, its figures are left
 * out with a message.
 */
import { execFileSync } from 'node:child_process'
import { postgresBinaries, startPostgres } from '../postgres/postgres-server.ts'
import { atMost, reportBounds } from './bounds.ts'
import { requireSameAnswer } from './core/answer.ts'
import { type Call, measuredInTurns, printMeasured, ratioOf } from './core/measured.ts'
import { type PenstockCore, startPenstockCore } from './core/penstock-core.ts'
import { snippetsAndWikis } from './core/snippets-and-wikis.ts'
import { FEW, MANY, type Stock, stock } from './core/stock.ts'
import { startScript } from './gateway/subjects.ts'

const MOST_TIMES_BARE = 2
const MOST_TIMES_SHORT = 1.5

/** A script that gives each milestone another title. */
const newMilestones = (series: string) => `local sent = 0
function request()
  sent = sent + 1
  return wrk.format("POST", nil, nil, '{"title":"${series}, ' .. sent .. '"}')
end`

/** The parts that run on SQLite, by name. */
const parts: Readonly<Record<string, (core: PenstockCore, stocked: Stock) => Promise<void>>> = {
  bare: besideBareHandler,
  lists: longLists,
  requests: (core, stocked) => others(core, stocked, 'SQLite'),
  snippets: snippetsAndWikis,
}
const known = [...Object.keys(parts), 'postgres']
const chosen = process.argv.length > 2 ? process.argv.slice(2) : known
const unknown = chosen.filter((name) => !known.includes(name))
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}; there are ${known.join(', ')}`)

execFileSync('which', ['wrk'], { stdio: 'ignore' })
const onFiles = chosen.flatMap((name) => parts[name] ?? [])
if (onFiles.length > 0) await onSqlite()
if (chosen.includes('postgres')) {
  if (postgresBinaries() === undefined) console.log('\nPostgreSQL is not installed: no figures of it')
  else await onPostgres()
}

async function onSqlite(): Promise<void> {
  const core = await startPenstockCore()
  try {
    const stocked = await stock(core)
    for (const part of onFiles) await part(core, stocked)
  } finally {
    await core.stop()
  }
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres()
  const core = await startPenstockCore(server.url)
  try {
    await others(core, await stock(core), 'PostgreSQL without fsync, CPU of the core alone')
  } finally {
    await core.stop()
    await server.stop()
  }
}

function getOf(core: PenstockCore, { token }: Stock, path: string, port = core.port) {
  return { port, path: `/api/v4${path}`, headers: { 'PRIVATE-TOKEN': token } }
}

function callOf(core: PenstockCore, stocked: Stock, name: string, path: string): Call {
  return { name, request: () => getOf(core, stocked, path), cpuSeconds: core.cpuSeconds }
}

async function besideBareHandler(core: PenstockCore, stocked: Stock): Promise<void> {
  const bare = await startScript('../core/bare-milestones.js', [core.location, `http://127.0.0.1:${core.port}`])
  const path = (perPage: number) => `/groups/${stocked.groups[FEW]}/milestones?per_page=${perPage}`
  const ours = (perPage: number) => callOf(core, stocked, `core, ${perPage}`, path(perPage))
  const bares = (perPage: number): Call => ({
    name: `bare handler, ${perPage}`,
    request: () => getOf(core, stocked, path(perPage), bare.httpPort),
    cpuSeconds: bare.cpuSeconds,
  })
  try {
    await requireSameAnswer(ours(20).request(), bares(20).request())
    const results = await measuredInTurns(
      { bare20: bares(20), ours20: ours(20), bare100: bares(100), ours100: ours(100) },
      { rounds: 5, seconds: 3 },
    )
    printMeasured(`Milestones of a group of ${FEW}, SQLite`, results)
    reportBounds('CPU per request beside the bare handler', [
      atMost('20', ratioOf(results.ours20, results.bare20), MOST_TIMES_BARE, 'times', 2),
      atMost('100', ratioOf(results.ours100, results.bare100), MOST_TIMES_BARE, 'times', 2),
    ])
  } finally {
    await bare.stop()
  }
}

async function longLists(core: PenstockCore, stocked: Stock): Promise<void> {
  const milestones = (count: number, page = 1) =>
    callOf(
      core,
      stocked,
      `milestones, page ${page} of ${count}`,
      `/groups/${stocked.groups[count]}/milestones?per_page=100&page=${page}`,
    )
  const issues = (count: number, pagination: 'offset' | 'keyset') =>
    callOf(
      core,
      stocked,
      `issues of ${count}, ${pagination}`,
      `/projects/${stocked.projects[count]}/issues?per_page=100&pagination=${pagination}`,
    )
  const results = await measuredInTurns(
    {
      fewMilestones: milestones(FEW),
      manyMilestones: milestones(MANY),
      deep: milestones(MANY, 100),
      last: milestones(MANY, 1_000),
      fewIssues: issues(FEW, 'offset'),
      manyIssues: issues(MANY, 'offset'),
      fewByKeyset: issues(FEW, 'keyset'),
      manyByKeyset: issues(MANY, 'keyset'),
    },
    { rounds: 3, seconds: 2 },
  )
  printMeasured('Lists of 100, SQLite', results)
  const { fewMilestones, manyMilestones, fewIssues, manyIssues, fewByKeyset, manyByKeyset } = results
  reportBounds(`CPU per request in lists of ${MANY} beside lists of ${FEW}`, [
    atMost('milestones', ratioOf(manyMilestones, fewMilestones), MOST_TIMES_SHORT, 'times', 2),
    atMost('issues by keyset', ratioOf(manyByKeyset, fewByKeyset), MOST_TIMES_SHORT, 'times', 2),
    { what: 'issues by offset', measured: `${ratioOf(manyIssues, fewIssues).toFixed(2)} times` },
  ])
}

async function others(core: PenstockCore, stocked: Stock, where: string): Promise<void> {
  const get = (name: string, path: string) => callOf(core, stocked, name, path)
  const list = (perPage: number) => `/groups/${stocked.groups[FEW]}/milestones?per_page=${perPage}`
  let rounds = 0
  const results = await measuredInTurns(
    {
      milestones: get('20 milestones', list(20)),
      moreMilestones: get('100 milestones', list(100)),
      issues: get('20 issues', `/projects/${stocked.projects[FEW]}/issues?per_page=20`),
      milestone: get('one milestone', stocked.milestone),
      created: {
        name: 'a new milestone',
        cpuSeconds: core.cpuSeconds,
        request() {
          rounds += 1
          const request = getOf(core, stocked, stocked.milestones)
          const headers = { ...request.headers, 'Content-Type': 'application/json' }
          return { ...request, headers, lua: newMilestones(`Round ${rounds}`) }
        },
      },
    },
    { rounds: 3, seconds: 2 },
  )
  printMeasured(where, results)
}
