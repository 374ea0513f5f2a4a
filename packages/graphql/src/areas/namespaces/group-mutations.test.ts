import { accessLevels, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let olga: User
let mira: User

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  ;[olga, mira] = [await world.user('olga'), await world.user('mira')]
  const ops = await world.group('ops')
  await world.member(ops, olga, accessLevels.owner)
  await world.member(ops, mira, accessLevels.maintainer)
})
afterEach(() => server.close())

async function update(input: object, as: User) {
  const document = `mutation($input: GroupUpdateInput!) { groupUpdate(input: $input) {
    errors group { name visibility sharedRunnersSetting mathRenderingLimitsEnabled lockMathRenderingLimitsEnabled }
  } }`
  return (await server.ask(document, { as, variables: { input: { fullPath: 'ops', ...input } } })).body
}

test('owners change a group', async () => {
  const settings = { sharedRunnersSetting: 'DISABLED_WITH_OVERRIDE', mathRenderingLimitsEnabled: false }
  const { data } = await update({ name: 'Operations', lockMathRenderingLimitsEnabled: true, ...settings }, olga)
  const group = {
    ...{ name: 'Operations', visibility: 'private', sharedRunnersSetting: 'DISABLED_AND_OVERRIDABLE' },
    ...{ mathRenderingLimitsEnabled: false, lockMathRenderingLimitsEnabled: true },
  }
  expect(data.groupUpdate).toEqual({ errors: [], group })
  expect((await update({}, olga)).data.groupUpdate).toEqual({ errors: [], group })
  expect((await update({ path: '-bad-' }, olga)).data.groupUpdate).toMatchObject({
    errors: [expect.stringContaining('Path')],
    group: null,
  })
})

test('a maintainer cannot change a group', async () => {
  expect(await update({ name: 'Mine' }, mira)).toMatchObject({ data: { groupUpdate: null }, errors: [{}] })
})
