import { performance } from 'node:perf_hooks'
import { atMost, reportBounds } from '../bounds.ts'
import { median, printTable } from '../measure.ts'
import { type Call, measuredInTurns, printMeasured, ratioOf } from './measured.ts'
import { type PenstockCore, startPenstockCore } from './penstock-core.ts'
import { beginsMs, FEW, insertRows, MANY, type Stock } from './stock.ts'

const MOST_TIMES_SHORT = 1.5
const WIKI_PAGES = 1_000
/** The core accepts 300 new snippets of a user in an hour. */
const NEW_SNIPPETS = 200
/** Ids of rows that are inserted directly, beyond those that the core gives. */
const FIRST_ID = 1_000_000
const ROUNDS = { rounds: 3, seconds: 2 }

/** Prints what snippets, wikis, access requests and broadcast messages cost, and compares short lists with long ones. */
export async function snippetsAndWikis(core: PenstockCore, stocked: Stock): Promise<void> {
  await newSnippets(core, stocked)
  await pages(core, stocked)
  await longLists(core, stocked)
}

const get = (core: PenstockCore, name: string, path: string, token = core.rootToken): Call => ({
  name,
  request: () => ({ port: core.port, path: `/api/v4${path}`, headers: { 'PRIVATE-TOKEN': token } }),
  cpuSeconds: core.cpuSeconds,
})

const files = [
  { file_path: 'deploy.sh', content: '#!/bin/sh\nset -e\nmake deploy\n'.repeat(20) },
  { file_path: 'notes/how-to.md', content: '# How to deploy\n\nRun the script, and wait.\n'.repeat(20) },
]

async function newSnippets(core: PenstockCore, { projects }: Stock): Promise<void> {
  const path = `/projects/${projects[FEW]}/snippets`
  const draft = (index: number) => ({ title: `Deploy, ${index}`, visibility: 'internal', files })
  for (let index = 0; index < 50; index += 1) await core.call('POST', path, draft(index))
  const tookMs: number[] = []
  const before = core.cpuSeconds()
  for (let index = 0; index < NEW_SNIPPETS; index += 1) {
    const startMs = performance.now()
    await core.call('POST', path, draft(index))
    tookMs.push(performance.now() - startMs)
  }
  const cpuMicros = ((core.cpuSeconds() - before) * 1e6) / NEW_SNIPPETS
  console.log(`\n${NEW_SNIPPETS} new snippets of two files, one after another, SQLite`)
  printTable([
    ['', 'CPU µs/request', 'p50 ms', 'longest ms'],
    ['a new snippet', cpuMicros.toFixed(0), median(tookMs).toFixed(2), Math.max(...tookMs).toFixed(2)],
  ])
}

async function pages(core: PenstockCore, { groups, projects }: Stock): Promise<void> {
  const snippets = `/projects/${projects[FEW]}/snippets`
  const { id } = await core.call('POST', snippets, { title: 'Deploy', visibility: 'internal', files })
  const wiki = `/groups/${groups[FEW]}/wikis`
  for (let index = 0; index < WIKI_PAGES; index += 1) {
    const content = `# Orchard ${index}\n\n${'Apples are picked in *autumn*, see #1.\n'.repeat(20)}`
    await core.call('POST', wiki, { title: `orchard ${index % 10}/row ${index}`, content })
  }
  const page = `${wiki}/orchard-5%2Frow-555`
  printMeasured(
    `Snippets, and a wiki of ${WIKI_PAGES} pages, SQLite`,
    await measuredInTurns(
      {
        snippet: get(core, 'one snippet', `${snippets}/${id}`),
        raw: get(core, 'its first file', `${snippets}/${id}/raw`),
        file: get(core, 'a file of a branch', `${snippets}/${id}/files/main/notes%2Fhow-to.md/raw`),
        page: get(core, 'one wiki page', page),
        html: get(core, 'one wiki page as HTML', `${page}?render_html=true`),
        wiki: get(core, `all ${WIKI_PAGES} wiki pages`, wiki),
      },
      ROUNDS,
    ),
  )
}

async function longLists(core: PenstockCore, { groups, projects, userId }: Stock): Promise<void> {
  await insertRows(core.location, 'users', MANY, requester)
  for (const [at, count] of [FEW, MANY].entries()) {
    const ids = FIRST_ID * (at + 1)
    await insertRows(core.location, 'snippets', count, snippet(ids, projects[count]!, userId))
    await insertRows(core.location, 'access_requests', count, accessRequest(groups[count]!))
  }
  const other = await startPenstockCore()
  try {
    await insertRows(core.location, 'broadcast_messages', FEW, broadcastMessage)
    await insertRows(other.location, 'broadcast_messages', MANY, broadcastMessage)
    const snippets = (count: number) =>
      get(core, `snippets of ${count}`, `/projects/${projects[count]}/snippets?per_page=100`)
    const requests = (count: number) =>
      get(core, `access requests of ${count}`, `/groups/${groups[count]}/access_requests?per_page=100`)
    const messages = (server: PenstockCore, count: number) =>
      get(server, `broadcast messages of ${count}`, '/broadcast_messages?per_page=100')
    const results = await measuredInTurns(
      {
        fewSnippets: snippets(FEW),
        manySnippets: snippets(MANY),
        fewRequests: requests(FEW),
        manyRequests: requests(MANY),
        fewMessages: messages(core, FEW),
        manyMessages: messages(other, MANY),
      },
      ROUNDS,
    )
    printMeasured('Lists of 100, SQLite', results)
    const { fewSnippets, manySnippets, fewRequests, manyRequests, fewMessages, manyMessages } = results
    reportBounds(`CPU per request in lists of ${MANY} beside lists of ${FEW}`, [
      atMost('snippets', ratioOf(manySnippets, fewSnippets), MOST_TIMES_SHORT, 'times', 2),
      atMost('access requests', ratioOf(manyRequests, fewRequests), MOST_TIMES_SHORT, 'times', 2),
      atMost('broadcast messages', ratioOf(manyMessages, fewMessages), MOST_TIMES_SHORT, 'times', 2),
    ])
  } finally {
    await other.stop()
  }
}

const snippet = (firstId: number, projectId: number, authorId: number) => (index: number) => ({
  id: firstId + index,
  project_id: projectId,
  author_id: authorId,
  title: `Deploy ${index + 1}`,
  description: null,
  visibility: 'internal' as const,
  files: JSON.stringify(['deploy.sh', 'notes/how-to.md']),
  created_at_ms: beginsMs + index * 60_000,
  updated_at_ms: beginsMs + index * 61_000,
})

const requester = (index: number) => ({
  id: FIRST_ID + index,
  username: `requester-${index}`,
  name: `Requester ${index}`,
  email: `requester-${index}@example.test`,
  public_email: null,
  state: 'active' as const,
  is_admin: 0,
  is_bot: 0,
  bot_project_id: null,
  bot_group_id: null,
  password_hash: null,
  last_activity_on: null,
  created_at_ms: beginsMs,
  updated_at_ms: beginsMs,
})

const accessRequest = (groupId: number) => (index: number) => ({
  user_id: FIRST_ID + index,
  group_id: groupId,
  project_id: null,
  created_at_ms: beginsMs + index * 60_000,
})

const broadcastMessage = (index: number) => ({
  message: `Maintenance in week ${index + 1}`,
  starts_at_ms: beginsMs + index * 60_000,
  ends_at_ms: beginsMs + index * 60_000 + 3_600_000,
  color: '',
  font: '#FFFFFF',
  target_access_levels: '[]',
  target_path: null,
  broadcast_type: 'banner' as const,
  theme: 'indigo' as const,
  dismissable: 0,
  updated_at_ms: beginsMs,
})
