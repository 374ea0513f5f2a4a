import { createCommit, createIssue, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from './rest-server.harness.ts'

let server: RestServer
let token: string
let mira: User
let project: number
beforeEach(async () => {
  server = await RestServer.start()
  const { world } = server
  mira = await world.user('mira', { isAdministrator: true })
  token = await server.tokenOf(mira)
  project = (await world.project('tools', await world.group('ops'))).id
})
afterEach(() => server.close())

const MIB = 1024 * 1024

async function post(path: string, json: object) {
  const { status, body } = await server.call('POST', `projects/${project}/${path}`, { token, json })
  expect(status).toBe(201)
  return body
}

async function issues(count: number, description: string): Promise<number[]> {
  const iids: number[] = []
  for (let index = 0; index < count; index += 1) {
    const issue = await server.world.perform(mira, createIssue, { project, title: `issue ${index}`, description })
    iids.push(issue.iid)
  }
  return iids
}

/** Returns the status of a GET request, the message of an error, and the size and the number of rows of a list. */
async function get(path: string) {
  const { status, body, headers } = await server.call('GET', `projects/${project}/${path}`, { token })
  const isList = Array.isArray(body)
  return {
    status,
    rows: isList ? body.length : undefined,
    bytes: isList ? Buffer.byteLength(JSON.stringify(body)) : 0,
    message: body?.message as string | undefined,
    link: headers.get('link') ?? '',
    body,
  }
}

test.each([
  ['texts that are read within the limit, but are longer as JSON', 10, '"'.repeat(MIB), 3],
  ['texts that exceed the limit on reading', 20, 'x'.repeat(MIB), 7],
])('a page by number is whole, or refused with the largest per_page: %s', async (_, count, description, largest) => {
  await issues(count, description)
  const refused = await get('issues?per_page=100')
  expect([refused.status, refused.message]).toEqual([
    413,
    `413 Request Entity Too Large - The page would be larger than 8 MiB. The largest per_page that fits is ${largest}.`,
  ])
  const fitting = await get(`issues?per_page=${largest}&page=2`)
  expect([fitting.status, fitting.rows, fitting.bytes < 8 * MIB]).toEqual([
    200,
    Math.min(largest, count - largest),
    true,
  ])
  expect((await get(`issues?per_page=${largest + 1}`)).status).toBe(413)
})

test('a page by cursor ends early, and its link starts at the first row that is not sent', async () => {
  await issues(10, 'x'.repeat(MIB))
  const seen: number[] = []
  let path = 'issues?pagination=keyset&per_page=100&order_by=created_at'
  for (let page = 0; path !== '' && page < 10; page += 1) {
    const { status, body, bytes, link } = await get(path)
    expect([status, bytes < 8 * MIB]).toEqual([200, true])
    seen.push(...body.map(({ iid }: { iid: number }) => iid))
    path = /projects\/\d+\/(\S+)>; rel="next"/.exec(link)?.[1] ?? ''
  }
  expect(seen).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test('details of labels in a list count, and an object that is too large names its member', async () => {
  const [iid] = await issues(2, 'short')
  const names = Array.from({ length: 66 }, (_, index) => `label-${index}`)
  for (const name of names) {
    await post('labels', { name, color: '#ff0000', description: '"'.repeat(64 * 1024) })
  }
  await server.call('PUT', `projects/${project}/issues/${iid}`, { token, json: { labels: names.join() } })
  const { status, message } = await get('issues?with_labels_details=true&sort=asc')
  expect([status, message]).toEqual([
    413,
    "413 Request Entity Too Large - The answer would be larger than 8 MiB because of 'labels'.",
  ])
  expect((await get('issues')).status).toBe(200)
})

test('a discussion that is too large to be read names its notes', async () => {
  const [iid] = await issues(1, 'short')
  const body = 'x'.repeat(1_000_000)
  const { id } = await post(`issues/${iid}/discussions`, { body })
  for (let index = 0; index < 16; index += 1) await post(`issues/${iid}/discussions/${id}/notes`, { body })
  const { status, message } = await get(`issues/${iid}/discussions/${id}`)
  expect([status, message]).toEqual([
    413,
    "413 Request Entity Too Large - The answer would be larger than 8 MiB because of 'notes'.",
  ])
})

test('messages of commits count', async () => {
  for (let index = 0; index < 5; index += 1) {
    const branch = `b${String(index).padStart(2, '0')}`
    await server.world.perform(mira, createCommit, {
      project,
      branch,
      ...(index > 0 && { startBranch: 'b00' }),
      commitMessage: `${index} ${'x'.repeat(MIB - 10)}`,
      actions: [{ action: 'create', filePath: `${index}.txt`, content: 'x' }],
    })
  }
  const { status, message } = await get('repository/branches?per_page=100')
  // A branch shows the message of its commit once, and its first line as the title.
  expect([status, message]).toEqual([
    413,
    '413 Request Entity Too Large - The page would be larger than 8 MiB. The largest per_page that fits is 3.',
  ])
  expect((await get('repository/branches?per_page=3')).rows).toBe(3)
  expect((await get('repository/commits?per_page=100&all=true')).status).toBe(413)
})
