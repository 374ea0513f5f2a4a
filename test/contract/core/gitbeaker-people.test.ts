import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
})
afterEach(() => core.close())

test('projects are starred', async () => {
  const { id } = await root.Projects.create({ name: 'tools' })
  expect(await root.Projects.star(id)).toMatchObject({ id, star_count: 1 })
  await root.Projects.create({ name: 'board' })
  expect((await root.Projects.all({ starred: true })).map(({ name }) => name)).toEqual(['tools'])
  expect((await root.Users.allStarredProjects('root')).map(({ name }) => name)).toEqual(['tools'])
  expect(await root.Projects.allStarrers(id)).toMatchObject([{ user: { username: 'root' } }])
  expect(await root.Projects.unstar(id)).toMatchObject({ star_count: 0 })
  expect(await root.Projects.allStarrers(id)).toEqual([])
})
