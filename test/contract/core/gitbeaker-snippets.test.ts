import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let project: number

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  project = (await root.Projects.create({ name: 'tools' })).id
})

afterEach(() => core.close())

const statusOf = (request: Promise<unknown>): Promise<number> =>
  request.then(
    () => 200,
    (error) => error.cause.response.status,
  )
const textOf = (content: unknown) => (content instanceof Blob ? content.text() : content)

test('snippets are created, read, changed and removed', async () => {
  const { ProjectSnippets } = root
  const made = await ProjectSnippets.create(project, 'Rotate logs', {
    visibility: 'public',
    files: [
      { filePath: 'bin/rotate.sh', content: 'rotate' },
      { filePath: 'README.md', content: '# Logs' },
    ],
  })
  expect(made).toMatchObject({ id: 1, visibility: 'public', file_name: 'README.md', author: { username: 'root' } })
  expect((await ProjectSnippets.all(project)).map(({ id, title }) => [id, title])).toEqual([[1, 'Rotate logs']])
  expect(await ProjectSnippets.show(project, 1)).toEqual(made)
  expect(await textOf(await ProjectSnippets.showContent(project, 1))).toBe('# Logs')
  const raw = (ref: string, path: string) => ProjectSnippets.showRepositoryFileContent(project, 1, ref, path)
  expect(await textOf(await raw('main', 'bin/rotate.sh'))).toBe('rotate')
  const changed = await ProjectSnippets.edit(project, 1, {
    description: 'Every night',
    files: [
      { action: 'move', filePath: 'rotate.sh', previousPath: 'bin/rotate.sh' },
      { action: 'delete', filePath: 'README.md' },
    ],
  } as never)
  expect(changed).toMatchObject({ description: 'Every night', files: [{ path: 'rotate.sh' }] })
  expect(await ProjectSnippets.showUserAgentDetails(project, 1)).toMatchObject({
    ip_address: '127.0.0.1',
    akismet_submitted: false,
  })
  await ProjectSnippets.remove(project, 1)
  expect(await statusOf(ProjectSnippets.show(project, 1))).toBe(404)
})
