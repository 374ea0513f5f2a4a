import { forgeNames, isObject, type PipelineRecord, readInput } from '@penstock/forges'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../convert.ts'
import { optionsFor, runBodies } from '../forge-bodies.harness.ts'

/** Returns the trace id and the span ids of a record. */
function idsOf(record: PipelineRecord): string[] {
  const { traces } = convert(record, optionsFor(record))
  const spans = traces.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
  return spans.flatMap(({ traceId, spanId, links }) => [`${traceId} ${spanId}`, ...links.map((link) => link.spanId)])
}

const spanIdsOf = (record: PipelineRecord): string[] => {
  const { traces } = convert(record, optionsFor(record))
  return traces.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items.map(({ spanId }) => spanId)))
}

/** Returns a value with the members of its objects in another order. */
function shuffled(value: unknown, numbers: Iterator<number>): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, numbers))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([key, inner]) => [key, shuffled(inner, numbers), numbers.next().value])
  return Object.fromEntries(members.toSorted((one, other) => Number(one[2]) - Number(other[2])) as [string, unknown][])
}

/** Returns the server that ids are unique on; for a project without any URL, the project. */
const serverOf = ({ server, webUrl, id, path }: PipelineRecord['project']): string =>
  server ?? (webUrl !== undefined && URL.canParse(webUrl) ? new URL(webUrl).host : `${id ?? path}`)

const bodies = runBodies()

test('ids are the same whatever the order of members in a payload', () => {
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.infiniteStream(fc.nat()), ({ body, record }, numbers) => {
      const input = readInput(shuffled(body, numbers), { receivedAtNs: 1n })
      expect(input.kind === 'pipeline' && idsOf(input.record)).toEqual(idsOf(record))
    }),
    { numRuns: 300 },
  )
})

test('different runs and jobs of all fixtures have different span ids', () => {
  const ownerById = new Map<string, string>()
  for (const { record } of bodies) {
    const { forge, id, attempt, project, jobs } = record
    const run = [forge, serverOf(project), id, attempt].join(' ')
    // A stage has no id, and a bridge may be listed twice: only the span of the run and those of jobs have owners.
    const [runSpan = ''] = spanIdsOf(record)
    const jobSpans = jobs.map(({ id: jobId }) => [
      `${run} ${jobId}`,
      spanIdsOf({ ...record, jobs: jobs.filter((job) => job.id === jobId) })[1] ?? '',
    ])
    for (const [owner = '', spanId = ''] of [[run, runSpan], ...jobSpans]) {
      expect([spanId, ownerById.get(spanId) ?? owner]).toEqual([spanId, owner])
      ownerById.set(spanId, owner)
    }
  }
  expect(ownerById.size).toBeGreaterThan(700)
})

describe('the same run and job numbers', () => {
  const runId = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })
  const base = bodies.find(({ name }) => name === 'github-push-run.json')!.record

  test('of all forges on one host have different ids', () => {
    fc.assert(
      fc.property(runId, (id) => {
        const ids = forgeNames.flatMap((forge) => spanIdsOf({ ...base, forge, id }))
        expect(new Set(ids).size).toBe(ids.length)
      }),
      { numRuns: 50 },
    )
  })

  test('of two attempts, two servers or two runs have different ids', () => {
    fc.assert(
      fc.property(runId, fc.integer({ min: 1, max: 50 }), (id, attempt) => {
        const other = { ...base.project, server: 'other.example.com' }
        const runs = [
          { ...base, id, attempt },
          { ...base, id, attempt: attempt + 1 },
          { ...base, id: id === 1n ? 2n : id - 1n, attempt },
          { ...base, id, attempt, project: other },
        ]
        const ids = runs.flatMap(spanIdsOf)
        expect(new Set(ids).size).toBe(ids.length)
      }),
      { numRuns: 50 },
    )
  })
})
