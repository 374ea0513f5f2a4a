import { MAX_ANSWER_BYTES } from '@penstock/json'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRead } from './http-matrix-columns.ts'
import { methodAndPath } from './http-matrix-row.ts'
import { MatrixServer, requestedParent } from './http-matrix-server.ts'
import { allMakers, valuesFor } from './http-matrix-things.ts'
import { longestText, longTexts } from './long-texts.ts'
import { matrixAreas, type Values } from './matrix-area.ts'

const reads = (await matrixAreas()).flatMap(({ rows }) => rows).filter((row) => isRead(row) && row.answer[0] === 200)

interface Read {
  readonly call: string
  readonly path: string
}

let server: MatrixServer
let headers: Record<string, string>
const requests: Read[] = []

beforeAll(async () => {
  server = await MatrixServer.open()
  headers = { 'PRIVATE-TOKEN': (await server.personalToken(server.root, ['api'])).value }
  for (const row of reads) {
    const parent = await requestedParent(server, row, 'public')
    const context = { server, parent, caller: server.root }
    const created = await valuesFor(row.needs ?? [], context, { once: true })
    const values: Values = { new: 'new', ...created, ...(parent && { id: parent.id }) }
    requests.push({ call: row.call, path: pathWith(row, values) })
  }
  const project = await server.shared('project', 'public')
  for (let copy = 1; copy <= 3; copy += 1) {
    const title = server.word('copy')
    const merged = { project: project.id, title, sourceBranch: title, targetBranch: 'main' }
    await server.world.mergeRequest(server.root, merged)
    await allMakers.release!({ server, parent: project, caller: server.root })
    await post(project.id, 'issues', { title })
    await post(project.id, 'milestones', { title })
    await post(project.id, 'labels', { name: title, color: '#ff0000' })
    await post(project.id, 'snippets', { title, file_name: 'a.txt', content: 'a', visibility: 'public' })
  }
  await server.world.core.db.write(async (db) => {
    const copied = sql.raw(await columnsOfNotes())
    await sql`insert into notes (${copied}) select ${copied} from notes where is_system = 0`.execute(db)
    for (const [table, column, characters] of longTexts) {
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${longestText(characters)}`.execute(db)
    }
  })
})

afterAll(() => server.close())

async function post(project: number, path: string, body: object): Promise<void> {
  const json = { ...headers, 'Content-Type': 'application/json' }
  const init = { method: 'POST', headers: json, body: JSON.stringify(body) }
  expect((await server.fetch(`/projects/${project}/${path}`, init)).status).toBe(201)
}

async function columnsOfNotes(): Promise<string> {
  const row = await server.world.core.db.read.selectFrom('notes').selectAll().executeTakeFirstOrThrow()
  return Object.keys(row)
    .filter((name) => name !== 'id')
    .join(', ')
}

function pathWith(row: (typeof reads)[number], values: Values): string {
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
  const path = methodAndPath(row)
    .replace('GET ', '')
    .replaceAll(/[:*](\w+)/g, (_, name: string) =>
      encodeURIComponent(
        row.at?.[name] === undefined ? (values[name] ?? expect.unreachable(name)) : filled(row.at[name]),
      ),
    )
  const sent = Object.entries(row.send ?? {}).flatMap(([name, value]): [string, string][] =>
    Array.isArray(value) ? value.map((each) => [`${name}[]`, String(each)]) : [[name, filled(String(value))]],
  )
  return `${path}?${new URLSearchParams([...sent, ['with_labels_details', 'true']])}`
}

async function get(path: string) {
  const reply = await server.fetch(path, { headers })
  const bytes = Buffer.from(await reply.arrayBuffer())
  const message = reply.status === 413 ? (JSON.parse(bytes.toString()) as { message: string }).message : ''
  return { status: reply.status, bytes: bytes.length, message }
}

test('every GET answers with at most 8 MiB, or names the page or the member that is too large', async () => {
  const refused: string[] = []
  const wrong: string[] = []
  for (const { call, path } of requests) {
    const { status, bytes, message } = await get(`${path}&per_page=20`)
    if (bytes > MAX_ANSWER_BYTES) wrong.push(`${call}: ${bytes} bytes`)
    if (status === 200) continue
    refused.push(call)
    if (status !== 413 || !/(?:per_page that fits is \d+|because of '\w+')\.$/.test(message))
      wrong.push(`${call}: ${status} ${message}`)
  }
  expect(wrong).toEqual([])
  expect(refused).toEqual(
    expect.arrayContaining([
      'GET /projects/:id/issues',
      'GET /projects/:id/merge_requests',
      'GET /projects/:id/releases',
      'GET /projects/:id/issues/:issue_iid/notes',
      'GET /projects/:id/issues/:issue_iid/discussions',
    ]),
  )
})
