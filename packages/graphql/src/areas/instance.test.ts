import { updateApplicationSettings } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer

beforeEach(async () => {
  server = await GraphqlServer.start()
})

afterEach(() => server.close())

test('only administrators see the CI settings of the instance, as they are in the database', async () => {
  const { world } = server
  const [root, mira] = [await world.user('root', { isAdministrator: true }), await world.user('mira')]
  const ask = async (as?: typeof root) => {
    const { body } = await server.ask('{ ciApplicationSettings { keepLatestArtifact } }', as ? { as } : {})
    return body
  }
  const shown = (settings: object | null) => ({ data: { ciApplicationSettings: settings } })
  expect(await ask(root)).toEqual(shown({ keepLatestArtifact: true }))
  await world.perform(root, updateApplicationSettings, { keep_latest_artifact: false })
  expect(await ask(root)).toEqual(shown({ keepLatestArtifact: false }))
  expect(await ask(mira)).toEqual(shown(null))
  expect(await ask()).toEqual(shown(null))
})
