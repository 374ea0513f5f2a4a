/**
 * A minimal server for the list of milestones: koa, its router and better-sqlite3 with prepared statements. Every request
 * gets the same page, count, JSON and headers, without credentials, permissions and filters.
 *
 * Arguments: the SQLite file, the base of URLs.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import Sqlite from 'better-sqlite3'
import Koa from 'koa'

interface Row {
  id: number
  iid: number
  group_id: number
  title: string
  description: string | null
  state: string
  start_date: string | null
  due_date: string | null
  created_at_ms: number
  updated_at_ms: number
  full_path: string
}

const [file, externalUrl] = process.argv.slice(2)
const database = new Sqlite(file!, { readonly: true })
const pageOf = database.prepare<[number, number, number], Row>(
  `select milestones.*, (select full_path from groups where groups.id = milestones.group_id) as full_path
   from milestones where group_id = ? order by due_order, id desc limit ? offset ?`,
)
const countOf = database
  .prepare<[number], number>('select count(*) from (select 1 from milestones where group_id = ? limit 10001)')
  .pluck()

const PERIOD_MS = 60_000
const LIMIT = 10_000_000
let observed = 0

const router = new Router()
router.get('/api/v4/groups/:id/milestones', (context) => {
  const startMs = performance.now()
  const groupId = Number(context.params.id)
  const page = Number(context.query.page ?? 1)
  const perPage = Number(context.query.per_page ?? 20)
  const rows = pageOf.all(groupId, perPage + 1, (page - 1) * perPage)
  const total = countOf.get(groupId)!
  const today = new Date().toISOString().slice(0, 10)
  const body = JSON.stringify(rows.slice(0, perPage).map((row) => jsonOf(row, today)))
  const next = rows.length > perPage ? page + 1 : undefined
  const previous = page > 1 && rows.length > 0 ? page - 1 : undefined
  const last = total > 10_000 ? undefined : Math.max(1, Math.ceil(total / perPage))
  const link = (rel: string, number: number | undefined) =>
    number === undefined
      ? []
      : `<${externalUrl}${context.path}?id=${groupId}&page=${number}&per_page=${perPage}&state=all>; rel="${rel}"`
  const requestId = randomBytes(12).toString('hex')
  observed += 1
  context.set({
    'Cache-Control': 'max-age=0, private, must-revalidate',
    Vary: 'Origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'SAMEORIGIN',
    'X-Request-Id': requestId,
    'RateLimit-Name': 'throttle_authenticated_api',
    'RateLimit-Limit': String(LIMIT),
    'RateLimit-Observed': String(observed),
    'RateLimit-Remaining': String(LIMIT - observed),
    'RateLimit-Reset': String((Math.floor(Date.now() / PERIOD_MS) + 1) * (PERIOD_MS / 1_000)),
    'X-Runtime': ((performance.now() - startMs) / 1_000).toFixed(6),
    'X-Svc-Meta': JSON.stringify({ correlation_id: requestId, version: '1' }),
    'X-Page': String(page),
    'X-Per-Page': String(perPage),
    'X-Next-Page': String(next ?? ''),
    'X-Prev-Page': String(previous ?? ''),
    ...(last !== undefined && { 'X-Total': String(total), 'X-Total-Pages': String(last) }),
    Link: [link('prev', previous), link('next', next), link('first', 1), link('last', last)].flat().join(', '),
    ETag: `W/"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`,
    'Content-Type': 'application/json',
  })
  context.body = body
})

const jsonOf = (row: Row, today: string) => ({
  id: row.id,
  iid: row.iid,
  group_id: row.group_id,
  title: row.title,
  description: row.description,
  state: row.state,
  created_at: new Date(row.created_at_ms).toISOString(),
  updated_at: new Date(row.updated_at_ms).toISOString(),
  due_date: row.due_date,
  start_date: row.start_date,
  expired: row.due_date !== null && row.due_date < today,
  web_url: `${externalUrl}/groups/${row.full_path}/-/milestones/${row.iid}`,
})

const server = createServer({ keepAliveTimeout: 75_000 }, new Koa().use(router.routes()).callback())
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.once('SIGTERM', () => process.exit())
