import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { areas } from '@penstock/rest'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isRead, matrixColumns } from './http-matrix-columns.ts'
import { sendRow } from './http-matrix-request.ts'
import { type MatrixRow, methodAndPath } from './http-matrix-row.ts'
import { MatrixServer, requestedParent } from './http-matrix-server.ts'
import { valuesFor } from './http-matrix-things.ts'
import { matrixAreas, type Values } from './matrix-area.ts'

const rows: readonly MatrixRow[] = (await matrixAreas()).flatMap((area) => area.rows)

let server: MatrixServer
let repositories: string
/** The calls that were answered with an error because the files of their repository are missing. */
const refused = new Set<string>()

beforeAll(async () => {
  server = await MatrixServer.open()
  repositories = server.world.core.settings.repositoriesDir
  await mkdir(repositories, { recursive: true })
})
afterAll(() => server.close())
afterEach(restoreDirectories)

const away = () => `${repositories}.away`

/** Removes the directories of all repositories, as if their file system was not mounted. */
async function loseDirectories(): Promise<void> {
  await rename(repositories, away())
  await mkdir(repositories)
}

async function restoreDirectories(): Promise<void> {
  const names = await readdir(away()).catch(() => undefined)
  if (names === undefined) return
  await rm(repositories, { recursive: true })
  await rename(away(), repositories)
}

/** Returns the paths of all repositories. */
const directoriesIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.git'))

/** Returns a function that sends the request of a row as a user who may do it, with things that exist. */
async function prepare(row: MatrixRow): Promise<() => Promise<{ status: number; text: string }>> {
  const parent = await requestedParent(server, row, 'private')
  const headers = await server.headersOf(row, 'least', { type: 'personal' }, parent)
  const caller = server.userOf(row, 'least') ?? server.root
  const created = await valuesFor(row.needs ?? [], { server, parent, caller }, { once: isRead(row) })
  const values: Values = { new: server.word('new'), ...created, ...(parent && { id: parent.id }) }
  return async () => {
    const reply = await sendRow(server, row, values, headers)
    return { status: reply.status, text: await reply.text() }
  }
}

/** Returns the status for the same request while all files are there. */
function usualStatus(row: MatrixRow): number {
  const { expected } = matrixColumns(row).find(({ name }) => name === 'least role')!
  return expected === 'success' ? row.answer[0] : expected.status
}

const missing = { status: 503, text: '{"message":"503 Service Unavailable"}' }

test.each(rows.filter(isRead))('$call says that files are missing, or does not need them', async (row) => {
  const send = await prepare(row)
  // The first request of a token stores when it was used.
  await send()
  const healthy = await send()
  await loseDirectories()
  const answer = await send()
  if (answer.status === missing.status) refused.add(methodAndPath(row))
  expect(answer).toEqual(answer.status === missing.status ? missing : healthy)
})

test.each(rows.filter((row) => !isRead(row)))('$call begins no new repository in place of a lost one', async (row) => {
  const send = await prepare(row)
  await loseDirectories()
  const answer = await send()
  if (answer.status === missing.status) refused.add(methodAndPath(row))
  expect(answer).toEqual(answer.status === missing.status ? missing : { ...answer, status: usualStatus(row) })
  const begun = await directoriesIn(repositories)
  const lost = await directoriesIn(away())
  expect(begun.filter((name) => lost.includes(name))).toEqual([])
  for (const name of begun) {
    const repository = name.slice(0, name.lastIndexOf('-'))
    expect(lost.filter((other) => other.startsWith(`${repository}-`))).toEqual([])
  }
})

/** Routes that begin a wiki in these rows. */
const withoutFiles = new Set(['POST /groups/:id/wikis/attachments', 'POST /projects/:id/wikis/attachments'])

test('every route to the contents of a repository is refused without its files', () => {
  const below = areas
    .flatMap(({ routes }) => routes.map(({ method, path }) => `${method} ${path}`))
    .filter((call) => /\/repository\/|\/wikis\/|\/snippets\/.*(?:raw|files)/.test(call))
  expect(below.filter((call) => !refused.has(call) && !withoutFiles.has(call))).toEqual([])
  expect([...withoutFiles].filter((call) => refused.has(call))).toEqual([])
})
