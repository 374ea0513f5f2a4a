import { areas } from '@penstock/rest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Column, isRead, matrixColumns } from './http-matrix-columns.ts'
import { sendRow } from './http-matrix-request.ts'
import { type MatrixRow, methodAndPath } from './http-matrix-row.ts'
import { MatrixServer, requestedParent } from './http-matrix-server.ts'
import { differenceFrom } from './http-matrix-shapes.ts'
import { allMakers, valuesFor } from './http-matrix-things.ts'
import { matrixAreas, type Values } from './matrix-area.ts'

const matrix: readonly MatrixRow[] = (await matrixAreas()).flatMap(({ rows }) => rows)

let server: MatrixServer

beforeAll(async () => {
  server = await MatrixServer.open()
})

afterAll(() => server.close())

test('the matrix contains every route, and no other', () => {
  const served = areas.flatMap(({ routes }) => routes.map(({ method, path }) => `${method} ${path}`))
  expect([...new Set(matrix.map(methodAndPath))].sort()).toEqual(served.sort())
})

test('exceptions are for existing columns, and column names are unique', () => {
  for (const row of matrix) {
    const names = matrixColumns(row).map(({ name }) => name)
    expect(names, row.call).toEqual(expect.arrayContaining(Object.keys(row.except ?? {})))
    expect(new Set(names).size, row.call).toBe(names.length)
  }
})

test('every thing that a row needs can be created', () => {
  const needed = new Set(matrix.flatMap(({ needs = [] }) => needs))
  expect(Object.keys(allMakers)).toEqual(expect.arrayContaining([...needed]))
})

describe('answers by caller and credential', () => {
  test.each(matrix)('$call', async (row) => {
    const [expected, actual]: Record<string, string>[] = [{}, {}]
    for (const column of matrixColumns(row)) {
      expected![column.name] = expectedOutcome(row, column)
      actual![column.name] = await actualOutcome(row, column)
    }
    expect(actual).toEqual(expected)
  })
})

test.each([
  ['anonymous', false],
  ['a stranger', false],
  ['an administrator', true],
  ['themselves', true],
] as const)('the e-mail address of a user as seen by %s (shown: %s)', async (who, isShown) => {
  const user = await server.createUser()
  const callers = { 'a stranger': server.stranger, 'an administrator': server.root, themselves: user }
  const headers =
    who === 'anonymous' ? {} : { 'PRIVATE-TOKEN': (await server.personalToken(callers[who], ['read_api'])).value }
  const one = await (await server.fetch(`/users/${user.id}`, { headers })).text()
  const list = await (await server.fetch(`/users?username=${user.username}`, { headers })).text()
  expect([one.includes(user.email), list.includes(user.email)]).toEqual([isShown, isShown])
})

const SUCCESS = 'success'

function expectedOutcome(row: MatrixRow, { expected }: Column): string {
  const changesNothing = isRead(row) || row.answer[0] >= 400
  if (expected === 'success') return `${row.answer[0]} ${SUCCESS}${changesNothing ? '' : ', something has changed'}`
  return `${expected.status} ${JSON.stringify(expected.body)}${expectedChallenge(expected)}`
}

/** Returns the expected `WWW-Authenticate` header. */
function expectedChallenge({ status, body }: { status: number; body: unknown }): string {
  const { error, error_description, scope } = body as Record<string, string>
  if (error_description === undefined) return ''
  const realm = 'Bearer realm="Protected by OAuth 2.0"'
  const all = `${realm}, error="${error}", error_description="${error_description}"`
  return ` ${status === 403 ? `${all}, scope="${scope}"` : all}`
}

async function actualOutcome(row: MatrixRow, column: Column): Promise<string> {
  const { caller, credential } = column
  const parent = await requestedParent(server, row, column.visibility)
  const person = server.userOf(row, credential.sudo === 'least' ? 'least' : caller) ?? server.root
  const headers = await server.headersOf(row, caller, credential, parent)
  const context = { server, parent, caller: (await server.botBehind(headers)) ?? person }
  const created = await valuesFor(row.needs ?? [], context, { once: isRead(row) })
  const values: Values = {
    new: server.word('new'),
    ...created,
    ...(parent && { id: parent.id }),
    ...(column.hasUnknownId && { id: 999_999 }),
  }
  const before = await server.changes()
  const reply = await sendRow(server, row, values, headers)
  const text = await reply.text()
  const change = (await server.changes()) === before ? '' : ', something has changed'
  const leak = caller === 'anonymous' || caller === 'stranger' ? revealedName(text, column) : ''
  if (column.expected !== 'success' || reply.status !== row.answer[0]) {
    const challenge = reply.headers.get('www-authenticate')
    return `${reply.status} ${text}${challenge === null ? '' : ` ${challenge}`}${change}${leak}`
  }
  return `${reply.status} ${responseDifference(row, column, reply, text) ?? SUCCESS}${change}${leak}`
}

/** The types of bodies that are not JSON. */
const typesOf = { text: /^text\/plain(;|$)/, bytes: /^(application\/(?!json)|image\/)/ }

/** Returns how a successful answer differs from the expected one. */
function responseDifference(row: MatrixRow, { name }: Column, reply: Response, text: string): string | undefined {
  const shape = row.answer[1]
  if (shape === undefined) return text === '' ? undefined : `body ${text}`
  const type = reply.headers.get('content-type')
  if (shape === 'text' || shape === 'bytes') {
    const isExpected = typesOf[shape].test(type ?? '') && (text !== '' || row.mayBeEmpty)
    return isExpected ? undefined : `${type} ${text}`
  }
  if (type !== 'application/json') return `of type ${type}`
  const body: unknown = JSON.parse(text)
  const isEmpty = Array.isArray(body) && body.length === 0
  if (isEmpty && !row.mayBeEmpty && name !== 'anonymous') return 'an empty list'
  return differenceFrom(shape, body)
}

/** Detects names of private groups and projects in answers to callers who may not see them, also in failures. */
const revealedName = (text: string, { visibility }: Column) =>
  visibility === 'private' && text.includes('hidden') ? `, reveals a hidden name: ${text}` : ''
