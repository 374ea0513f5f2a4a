import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from './body/fields.ts'
import { fixtureBodies, readBody } from './forge-fixtures.harness.ts'
import type { Input } from './read-input.ts'
import type { JobRecord, PipelineRecord } from './record/pipeline-record.ts'
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
  ...githubPairs(),
  forgejoPair(),
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

function githubPairs() {
  return ['github-push-run', 'github-two-attempts', 'github-merge-queue', 'github-release-of-a-tag'].flatMap((name) => {
    const rest = fixtureBodies(`${name}.json`)[0]?.bodies.at(-1)
    const run = rest?.run
    if (rest === undefined || !isObject(run)) return []
    const { repository, actor: sender } = run
    return [{ forge: 'github', rest, hook: { action: 'completed', workflow_run: run, repository, sender } }]
  })
}

function forgejoPair() {
  const rest = bodyOf('forgejo-bundle-with-steps')
  return { forge: 'forgejo', rest, hook: { action: 'failure', run: rest.run, prior_status: 'running' } }
}

/** The jobs in the answer of an API, each with the hook about it. */
const jobPairs: readonly {
  readonly forge: string
  readonly rest: JsonObject
  readonly hook: (job: JsonObject) => JsonObject
}[] = [
  {
    forge: 'github',
    rest: bodyOf('github-push-run'),
    hook: (job) => ({
      action: 'completed',
      workflow_job: job,
      repository: (bodyOf('github-push-run').run as JsonObject).repository,
      sender: {},
    }),
  },
  {
    forge: 'circleci',
    rest: bodyOf('circleci-rest-bundle'),
    hook: (job) => {
      const { workflow, pipeline } = bodyOf('circleci-rest-bundle')
      return { type: 'job-completed', id: 'h', webhook: {}, job, workflow, pipeline }
    },
  },
  {
    forge: 'buildkite',
    rest: bodyOf('buildkite-build-of-the-api'),
    hook: (job) => {
      const { jobs, pipeline, ...build } = bodyOf('buildkite-build-of-the-api')
      return { event: 'job.finished', job, build, pipeline, sender: {} }
    },
  },
]

test.each(jobPairs)('$forge: a hook and the API tell the same of a job', ({ rest, hook }) => {
  const listed = (rest.jobs as readonly JsonObject[]).filter(({ type }) => type !== 'waiter')
  const record = readBody(rest)
  const jobs = listed.map((job) => {
    const input = readBody(hook(job))
    return input.kind === 'job' ? input.event.job : undefined
  })
  expect(record.kind === 'pipeline' && record.record.jobs.toSorted(byId)).toMatchObject(
    jobs.flatMap((job) => (job === undefined ? [] : [withoutUrl(job)])).toSorted(byId),
  )
})

const byId = (one: { readonly id: unknown }, other: { readonly id: unknown }): number =>
  String(one.id) < String(other.id) ? -1 : 1

/** Hooks of CircleCI have the URL of the workflow, and REST has none. */
const withoutUrl = ({ url: _, ...job }: JobRecord) => job

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
