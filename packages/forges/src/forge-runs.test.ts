import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from './body/fields.ts'
import { fixtureBodies, readBody } from './forge-fixtures.harness.ts'
import type { Input } from './read-input.ts'
import type { PipelineRecord } from './record/pipeline-record.ts'
import { OtherHookError } from './record/record-error.ts'

/** The path of the list of jobs in the bodies of each forge. */
const jobLists: Readonly<Record<string, readonly string[]>> = {
  github: ['jobs'],
  forgejo: ['jobs'],
  circleci: ['jobs'],
  buildkite: ['jobs'],
  azure: ['timeline', 'records'],
  bitbucket: ['steps'],
  woodpecker: ['workflows'],
  drone: ['build', 'stages'],
  jenkins: ['stages', 'stages'],
}

function readable(body: JsonObject): Input | undefined {
  try {
    return readBody(body)
  } catch (error) {
    if (error instanceof OtherHookError) return undefined
    throw error
  }
}

const recordsOf = (forge: string): PipelineRecord[] =>
  fixtureBodies(`${forge}-`).flatMap(({ bodies }) =>
    bodies.flatMap((body) => {
      const input = readable(body)
      return input?.kind === 'pipeline' ? [input.record] : []
    }),
  )

/** Returns a body with its list of jobs replaced; the body itself if it has none there. */
function withList(
  body: JsonObject,
  [key = '', ...rest]: readonly string[],
  change: (list: unknown[]) => unknown[],
): JsonObject {
  const value = body[key]
  if (rest.length === 0) return Array.isArray(value) ? { ...body, [key]: change(value) } : body
  return isObject(value) ? { ...body, [key]: withList(value, rest, change) } : body
}

describe.each(Object.entries(jobLists))('%s', (forge, path) => {
  const bodies = fixtureBodies(`${forge}-`).flatMap((fixture) => fixture.bodies)

  test('has at least 15 payloads, and every record names its forge', () => {
    expect(fixtureBodies(`${forge}-`).length).toBeGreaterThanOrEqual(15)
    for (const record of recordsOf(forge)) expect(record.forge).toBe(forge)
  })

  test('the order of jobs makes no difference', () => {
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.infiniteStream(fc.nat()), (body, numbers) => {
        const shuffled = withList(body, path, (list) =>
          list
            .map((item) => ({ item, at: numbers.next().value }))
            .toSorted((one, other) => one.at - other.at)
            .map(({ item }) => item),
        )
        expect(readable(shuffled)).toEqual(readable(body))
      }),
      { numRuns: 50 },
    )
  })

  test('jobs of a run have different ids', () => {
    for (const { jobs } of recordsOf(forge)) expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobs.length)
  })

  test('a word that every object has as a property is an unknown status', () => {
    const statuses = bodies.flatMap((body) => {
      const input = readable(withWord(body, 'constructor'))
      if (input?.kind !== 'pipeline') return []
      return [input.record, ...input.record.jobs].flatMap((each) => [each.status, each.failureReason ?? ''])
    })
    expect(statuses).toContain('constructor')
    expect(new Set(statuses.map((status) => typeof status))).toEqual(new Set(['string']))
  })

  test('a body without any one of its fields is read, refused or skipped', () => {
    for (const body of bodies) {
      for (const key of Object.keys(body)) {
        const { [key]: removed, ...rest } = body
        expect(() => readBodyOrRefuse(rest)).not.toThrow()
      }
    }
  })
})

/** The members with the words of forges for statuses. Those of Bitbucket are objects with a name. */
const wordMembers = ['status', 'state', 'result', 'stage']

/** Returns a value with one word in place of all statuses. */
function withWord<Value>(value: Value, word: string): Value
function withWord(value: unknown, word: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withWord(item, word))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isWord = wordMembers.includes(key)
      if (isWord && typeof inner === 'string') return [key, word]
      if (isWord && isObject(inner)) return [key, { ...withWord(inner, word), name: word }]
      return [key, withWord(inner, word)]
    }),
  )
}

function readBodyOrRefuse(body: JsonObject): void {
  try {
    readBody(body)
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'RecordError') throw error
  }
}

/** The hooks about a run, and the answers of the API for the same run. */
const pairs: readonly { readonly forge: string; readonly hook: JsonObject; readonly rest: JsonObject }[] = [
  circleciPair(),
  buildkitePair(),
  azurePair(),
  dronePair(),
]

test.each(pairs)('$forge: a hook and the API tell the same of a run', ({ hook, rest }) => {
  const facts = [hook, rest].map((body) => {
    const input = readBody(body)
    if (input.kind !== 'pipeline') throw new Error('no run')
    const { id, iid, name, status, ref, tag, sha, createdAtNs, finishedAtNs, failureReason, mergeRequest } =
      input.record
    return { id, iid, name, status, ref, tag, sha, createdAtNs, finishedAtNs, failureReason, mergeRequest }
  })
  expect(facts[0]).toEqual(facts[1])
})

function bodyOf(name: string): JsonObject {
  const [fixture] = fixtureBodies(name)
  const body = fixture?.bodies.at(-1)
  if (body === undefined) throw new Error(`no fixture ${name}`)
  return body
}

function circleciPair() {
  const rest = bodyOf('circleci-rest-bundle')
  const { workflow, pipeline } = rest
  return { forge: 'circleci', rest, hook: { type: 'workflow-completed', id: 'h', webhook: {}, workflow, pipeline } }
}

function buildkitePair() {
  const rest = bodyOf('buildkite-build-of-the-api')
  const { jobs, pipeline, ...build } = rest
  return { forge: 'buildkite', rest, hook: { event: 'build.finished', build, pipeline, sender: {} } }
}

function azurePair() {
  const rest = bodyOf('azure-stages-and-a-partial-success')
  const hook = {
    id: 'h',
    eventType: 'build.complete',
    publisherId: 'tfs',
    resource: rest.build,
    resourceVersion: '2.0',
  }
  return { forge: 'azure', rest, hook }
}

function dronePair() {
  const rest = bodyOf('drone-build-of-the-api')
  return { forge: 'drone', rest, hook: { event: 'build', action: 'updated', repo: { slug: 'a/b' }, build: rest } }
}
