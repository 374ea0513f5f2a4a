import { accessLevels, createCommit, createRelease } from '@penstock/core'
import { expect, onTestFinished, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { releasesArea } from './releases.ts'

test('a guest who may not read the repository finds its tags nowhere in a release', async () => {
  const server = await RestServer.start({ areas: [releasesArea] })
  onTestFinished(() => server.close())
  const { world } = server
  const [mira, noor] = [await world.user('mira'), await world.user('noor')]
  const tools = await world.project('tools', await world.group('ops'))
  const project = tools.id
  await world.member(tools, mira, accessLevels.maintainer)
  await world.member(tools, noor, accessLevels.guest)
  const actions = [{ action: 'create', filePath: 'a.txt', content: 'a' }]
  await world.perform(mira, createCommit, { project, branch: 'main', commitMessage: 'Begin', actions })
  const links = [{ name: 'Tool', url: 'https://files.example.test/tool', filepath: '/tool' }]
  const draft = { project, ref: 'main', assets: { links } }
  await world.perform(mira, createRelease, { ...draft, tagName: 'hidden-1' })
  await world.perform(mira, createRelease, { ...draft, tagName: 'hidden-2', name: 'Spring' })
  const listed = async (user: typeof mira) =>
    (await server.call('GET', `projects/${project}/releases?sort=asc`, { token: await server.tokenOf(user) })).body
  expect(await listed(mira)).toMatchObject([{ name: 'hidden-1', tag_name: 'hidden-1' }, { name: 'Spring' }])
  const seen = await listed(noor)
  expect(seen).toMatchObject([{ name: 'Release-1' }, { name: 'Spring', assets: { links: [{ name: 'Tool' }] } }])
  expect(JSON.stringify(seen)).not.toContain('hidden')
})
