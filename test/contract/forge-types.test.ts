import { beforeAll, expect, test } from 'vitest'
import { describeWithForgeTypes, type Examined, examine, typedParts } from './forge-types.harness.ts'

/** The members of our fixtures that the types of a client lack, although the forge's documentation or its sources have them. */
const lacking: Readonly<Record<string, readonly string[]>> = {
  'azure build': ['definition.drafts'],
  'buildkite build': [
    'cancel_reason',
    'cluster_id',
    'creator.graphql_id',
    'jobs[].async',
    'jobs[].build_url',
    'jobs[].expired_at',
    'jobs[].matrix',
    'jobs[].signal',
    'jobs[].signal_reason',
    'pull_request.labels',
    'tag',
  ],
  'drone build': ['stages[].repo_id'],
  // Plugins add members, and every object of the API has a class.
  'jenkins build': [
    '_class',
    'actions[]._class',
    'actions[].buildingDurationMillis',
    'actions[].queuingDurationMillis',
    'changeSets[]._class',
    'changeSets[].items[]._class',
    'changeSets[].items[].authorEmail',
    'nextBuild',
    'previousBuild',
  ],
  'jenkins stages': ['pauseDurationMillis', 'queueDurationMillis', 'stages[].execNode', 'stages[].pauseDurationMillis'],
}

/** The client has integers, and Jenkins sends texts since its stage view has ids that are texts. */
const knownErrors = /ParentNodes of type int64$/

describeWithForgeTypes('the payloads of the fixtures have the types of published clients', () => {
  let examined: Examined[]

  beforeAll(() => {
    examined = examine(typedParts())
  })

  test('of Azure, Buildkite, Drone and Jenkins', () => {
    expect(new Set(examined.map(({ type }) => type)).size).toBe(7)
    expect(examined.length).toBeGreaterThan(90)
  })

  test('they can be decoded', () => {
    expect(examined.filter(({ error }) => error !== '' && !knownErrors.test(error))).toEqual([])
  })

  test('they have no other members than those that the clients are known to lack', () => {
    const found: Record<string, string[]> = {}
    for (const { type, unknown } of examined) {
      if (unknown.length > 0) found[type] = [...new Set([...(found[type] ?? []), ...unknown])].sort()
    }
    expect(found).toEqual(lacking)
  })
})
