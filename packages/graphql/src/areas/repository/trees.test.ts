import { accessLevels, createCommit, createTag, type Project, type User } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User
let app: Project
let first: string

beforeEach(async () => {
  server = await GraphqlServer.start()
  root = await server.world.user('root', { isAdministrator: true })
  app = await server.world.project('app', root, 'public')
  first = await commit('Begin', { 'README.md': '# App\n', 'src/main.ts': 'start()\n', 'deep/er/est/a.txt': 'a\n' })
})
afterEach(() => server.close())

async function commit(commitMessage: string, files: Record<string, string>, more = {}): Promise<string> {
  const actions = Object.entries(files).map(([filePath, content]) => ({ action: 'create', filePath, content }))
  const input = { project: app.id, branch: 'main', commitMessage, actions, ...more }
  return (await server.world.perform(root, createCommit, input)).sha
}

async function repository(fields: string, as?: User) {
  const { body } = await server.ask(`{ project(fullPath: "root/app") { repository { ${fields} } } }`, as && { as })
  expect(body.errors).toBeUndefined()
  return body.data.project.repository
}

describe('tree', () => {
  test('shows the entries of a directory by type, with their addresses', async () => {
    const { tree } = await repository(`tree {
      permalinkPath lastCommit { sha }
      trees { nodes { id sha name path flatPath type webPath webUrl } }
      blobs { nodes { name mode type lfsOid webPath } }
      submodules { nodes { treeUrl } }
    }`)
    expect(tree.trees.nodes.map(({ flatPath }: { flatPath: string }) => flatPath)).toEqual(['deep/er/est', 'src'])
    const { sha } = tree.trees.nodes[1]
    expect(tree.trees.nodes[1]).toEqual({
      ...{ id: `gid://svc/TreeEntry/${sha}`, sha, name: 'src', path: 'src', flatPath: 'src', type: 'tree' },
      webPath: '/root/app/-/tree/main/src',
      webUrl: 'https://svc.example.test/root/app/-/tree/main/src',
    })
    const readme = { name: 'README.md', mode: '100644', type: 'blob', lfsOid: null }
    expect(tree.blobs.nodes).toEqual([{ ...readme, webPath: '/root/app/-/blob/main/README.md' }])
    expect(tree.submodules.nodes).toEqual([])
    expect(tree.permalinkPath).toBe(`/root/app/-/tree/${first}`)
    expect(tree.lastCommit).toEqual({ sha: first })
  })

  test('reads a directory at a ref, with everything below', async () => {
    await server.world.perform(root, createTag, { project: app.id, tagName: 'v1', ref: first })
    await commit('More', { 'src/more.ts': 'more()\n' })
    const { old, all } = await repository(`
      old: tree(path: "src", ref: "v1", refType: TAGS) { blobs { nodes { path } } lastCommit { sha } }
      all: tree(recursive: true) { blobs { nodes { path } } }`)
    expect(old).toEqual({ blobs: { nodes: [{ path: 'src/main.ts' }] }, lastCommit: { sha: first } })
    expect(all.blobs.nodes.map(({ path }: { path: string }) => path)).toEqual([
      ...['README.md', 'deep/er/est/a.txt', 'src/main.ts', 'src/more.ts'],
    ])
  })

  test.each(['path: "nowhere"', 'ref: "nowhere"'])('is empty with %s', async (argument) => {
    const { tree } = await repository(`tree(${argument}) {
      permalinkPath lastCommit { sha } trees { nodes { id } } blobs { nodes { id } }
    }`)
    expect(tree).toEqual({ permalinkPath: null, lastCommit: null, trees: { nodes: [] }, blobs: { nodes: [] } })
  })

  test('is null in an empty repository', async () => {
    await server.world.project('empty', root, 'public')
    const { body } = await server.ask(`{ project(fullPath: "root/empty") { repository {
      tree { permalinkPath } paginatedTree { nodes { permalinkPath } } branchNames(searchPattern: "*", offset: 0, limit: 9)
      commits(ref: "main") { nodes { sha } }
    } languages { name } statistics { commitCount } } }`)
    expect(body.data.project).toEqual({
      repository: { tree: null, paginatedTree: null, branchNames: [], commits: { nodes: [] } },
      languages: [],
      statistics: null,
    })
  })

  test('has pages of a hundred entries', async () => {
    await commit('Many', Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`many/${index}.txt`, 'x'])))
    const page = (more: string) =>
      repository(`paginatedTree(path: "many"${more}) {
        nodes { blobs { nodes { name } } } pageInfo { hasNextPage endCursor }
      }`)
    const { paginatedTree: one } = await page('')
    expect([one.nodes.length, one.nodes[0].blobs.nodes.length, one.pageInfo.hasNextPage]).toEqual([1, 100, true])
    const { paginatedTree: two } = await page(`, after: "${one.pageInfo.endCursor}"`)
    expect([two.nodes[0].blobs.nodes.length, two.pageInfo.hasNextPage]).toEqual([50, false])
  })
})

describe('commits', () => {
  const titles = async (args: string) =>
    (await repository(`commits(ref: "main"${args}) { nodes { title } }`)).commits.nodes.map(
      ({ title }: { title: string }) => title,
    )

  test('are those of a ref, newest first, in pages', async () => {
    await commit('Second', { 'b.txt': 'b' })
    await commit('Third', { 'c.txt': 'c' })
    expect(await titles('')).toEqual(['Third', 'Second', 'Begin'])
    const { commits } = await repository(
      'commits(ref: "main", first: 2) { nodes { title webPath } pageInfo { hasNextPage endCursor } }',
    )
    expect(commits.nodes[0].webPath).toMatch(/^\/root\/app\/-\/commit\/[0-9a-f]{40}$/)
    expect(commits.pageInfo.hasNextPage).toBe(true)
    expect(await titles(`, after: "${commits.pageInfo.endCursor}"`)).toEqual(['Begin'])
  })

  test('are filtered by path, author, text and time', async () => {
    await commit('Second thing', { 'src/b.txt': 'b' }, { authorName: 'Noor', authorEmail: 'noor@example.test' })
    expect(await titles(', path: "src"')).toEqual(['Second thing', 'Begin'])
    expect(await titles(', author: "noor"')).toEqual(['Second thing'])
    expect(await titles(', query: "THING"')).toEqual(['Second thing'])
    expect(await titles(', committedAfter: "2030-01-01"')).toEqual([])
    expect(await titles(', committedBefore: "2030-01-01"')).toHaveLength(2)
  })

  test('cannot be searched by regular expressions', async () => {
    const { body } = await server.ask(
      '{ project(fullPath: "root/app") { repository { commits(ref: "main", query: "a.*b") { nodes { sha } } } } }',
    )
    expect(body.errors[0].message).toContain("Argument 'query' on Field 'commits' has an invalid value")
  })
})

test('finds the names of branches by a pattern', async () => {
  for (const branch of ['fix-a', 'fix-b', 'other'])
    await commit(branch, { [branch]: '' }, { branch, startBranch: 'main' })
  const { all, fixes, second } = await repository(`
    all: branchNames(searchPattern: "*", offset: 0, limit: 100)
    fixes: branchNames(searchPattern: "fix-*", offset: 0, limit: 100)
    second: branchNames(searchPattern: "fix-*", offset: 1, limit: 1)`)
  expect([all, fixes, second]).toEqual([['fix-a', 'fix-b', 'main', 'other'], ['fix-a', 'fix-b'], ['fix-b']])
})

test('shows how a client can show a file, and the pages of a file', async () => {
  await commit('Files', { 'logo.PNG': 'a\0b', 'none.txt': '' })
  const viewer = '{ type fileType tooLarge collapsed renderError }'
  const fields = `simpleViewer ${viewer} richViewer ${viewer} fileType language canModifyBlob blamePath historyPath
    permalinkPath editBlobPath replacePath findFilePath archived externalStorage ideEditPath`
  const read = async (as?: User) =>
    (await repository(`blobs(paths: ["logo.PNG", "none.txt", "src/main.ts"]) { nodes { ${fields} } }`, as)).blobs.nodes
  const [logo, none, main] = await read(root)
  const simple = { type: 'simple', tooLarge: false, collapsed: false, renderError: null }
  expect([logo.simpleViewer, logo.richViewer]).toEqual([
    { ...simple, fileType: 'download' },
    { ...simple, type: 'rich', fileType: 'image' },
  ])
  expect([none.simpleViewer.fileType, none.richViewer]).toEqual(['empty', null])
  expect(main).toMatchObject({
    ...{ simpleViewer: { fileType: 'text' }, fileType: 'text', language: 'TypeScript', canModifyBlob: true },
    ...{ blamePath: '/root/app/-/blame/main/src/main.ts', historyPath: '/root/app/-/commits/main/src/main.ts' },
    ...{ editBlobPath: '/root/app/-/edit/main/src/main.ts', replacePath: '/root/app/-/update/main/src/main.ts' },
    ...{ findFilePath: '/root/app/-/find_file/main', archived: false, externalStorage: null, ideEditPath: null },
    permalinkPath: expect.stringMatching(/^\/root\/app\/-\/blob\/[0-9a-f]{40}\/src\/main.ts$/),
  })
  expect((await read())[0].canModifyBlob).toBe(false)
  const { blobs } = await repository(`blobs(paths: "README.md", ref: "${first}") { nodes { canModifyBlob } }`, root)
  expect(blobs.nodes).toEqual([{ canModifyBlob: false }])
})

test('shows languages to everyone, and statistics from the role Reporter', async () => {
  const { world } = server
  await commit('Go', { 'main.go': 'x'.repeat(24) })
  const [guest, reporter] = [await world.user('guest'), await world.user('reporter')]
  await world.member(app, guest, accessLevels.guest)
  await world.member(app, reporter, accessLevels.reporter)
  const ask = async (as?: User) => {
    const document = `{ project(fullPath: "root/app") {
      languages { name color share } statistics { commitCount storageSize repositorySize packagesSize wikiSize }
    } }`
    return (await server.ask(document, as && { as })).body.data.project
  }
  const languages = [
    { name: 'Go', color: '#00ADD8', share: 75 },
    { name: 'TypeScript', color: '#3178c6', share: 25 },
  ]
  expect(await ask()).toEqual({ languages, statistics: null })
  expect((await ask(guest)).statistics).toBeNull()
  const { statistics } = await ask(reporter)
  expect(statistics).toMatchObject({ commitCount: 2, packagesSize: 0, wikiSize: 0 })
  expect(statistics.repositorySize).toBeGreaterThan(0)
  expect(statistics.storageSize).toBe(statistics.repositorySize)
})

test('needs as many statements for ten projects as for two', async () => {
  const { world } = server
  for (let index = 0; index < 9; index += 1) {
    const project = (await world.project(`p${index}`, root, 'public')).id
    const actions = [{ action: 'create', filePath: 'a.ts', content: `${index}` }]
    await world.perform(root, createCommit, { project, branch: 'main', commitMessage: 'a', actions })
  }
  const ask = async (first: number) => {
    const { body } = await server.ask(
      `{ projects(first: ${first}) { nodes {
        languages { name } statistics { commitCount repositorySize }
        repository {
          branchNames(searchPattern: "*", offset: 0, limit: 5)
          tree { lastCommit { sha } blobs { nodes { flatPath } } } commits(ref: "main", first: 1) { nodes { author { username } } }
          blobs(paths: "a.ts") { nodes { canModifyBlob simpleViewer { fileType } } }
        }
      } } }`,
      { as: root },
    )
    expect(body.errors).toBeUndefined()
  }
  await server.tokenOf(root)
  const few = await world.statements(() => ask(2))
  expect(await world.statements(() => ask(10))).toBe(few)
})
