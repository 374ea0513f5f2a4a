import { createCommit, type Project, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let mira: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  mira = await server.world.user('mira')
  app = await server.world.project('app', mira, 'public')
})
afterEach(() => server.close())

const TEN_DAYS_MS = 864_000_000

async function commit(action: string, content: string, commitMessage: string): Promise<string> {
  const actions = ['a.txt', 'b.txt'].map((filePath) => ({ action, filePath, content }))
  const { sha } = await server.world.perform(mira, createCommit, {
    project: app.id,
    branch: 'main',
    commitMessage,
    actions,
  })
  await server.world.clock.advance(TEN_DAYS_MS)
  return sha
}

const blobs = async (paths: string, args: string) => {
  const fields =
    'firstLine groups { lineno span lines commit { sha title } commitData { ageMapClass projectBlameLink } }'
  const document = `{ project(fullPath: "mira/app") { repository { blobs(paths: ${paths}) {
    nodes { blame${args} { ${fields} } }
  } } } }`
  const { body } = await server.ask(document)
  return { nodes: body.data.project.repository.blobs.nodes, errors: body.errors }
}

test('shows the commits that last changed the lines', async () => {
  const first = await commit('create', 'one\ntwo\nthree\n', 'Begin')
  const second = await commit('update', 'one\n2\nthree\n', 'Count')
  const group = (lineno: number, line: string, sha: string, title: string, age: number) => ({
    ...{ lineno, span: 1, lines: [line], commit: { sha, title } },
    commitData: { ageMapClass: `blame-commit-age-${age}`, projectBlameLink: null },
  })
  const [all] = (await blobs('"a.txt"', '')).nodes
  expect(all.blame).toEqual({
    firstLine: '1',
    groups: [
      group(1, 'one', first, 'Begin', 9),
      group(2, '2', second, 'Count', 5),
      group(3, 'three', first, 'Begin', 9),
    ],
  })
  const [part] = (await blobs('"a.txt"', '(fromLine: 2, toLine: 2)')).nodes
  expect(part.blame.groups).toEqual([group(2, '2', second, 'Count', 5)])
})

test('is limited to one file of an operation, and ignores no commits', async () => {
  await commit('create', 'one\n', 'Begin')
  const { nodes, errors } = await blobs('["a.txt", "b.txt"]', '')
  expect(nodes[1]).toEqual({ blame: null })
  expect(errors).toMatchObject([{ message: '"blame" field can be requested only for 1 RepositoryBlob(s) at a time.' }])
  expect((await blobs('"a.txt"', '(ignoreRevs: true)')).errors).toMatchObject([
    { message: 'Commits cannot be ignored here' },
  ])
})
