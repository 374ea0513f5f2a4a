import { forgeNames, type Payload, type PipelineRecord } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { jobAttributes } from '../attributes/job-attributes.ts'
import { pipelineAttributes } from '../attributes/pipeline-attributes.ts'
import { createPlan } from '../attributes/plan.ts'
import { resourceAttributes } from '../attributes/resource-attributes.ts'
import { optionsFor, type RunBody, runBodies } from '../forge-bodies.harness.ts'
import { jobRun, pipelineRun } from '../run/run.ts'
import { checkRecord } from './check-record.ts'

/** GitLab's payloads and records of our own format have all fields. */
const forgesWithTables = forgeNames.filter((forge) => forge !== 'gitlab' && forge !== 'penstock')

const allBodies = runBodies()

const isUnknown = (payload: Payload, field: string): boolean =>
  payload.emptyField(field)?.is === 'not part of the forge’s payloads'

/** Returns the rows that name their fields, and whether they have a value in a run. Those of jobs have one if a job has one. */
function rowsWithValues({ record }: Pick<RunBody, 'record'>) {
  const run = pipelineRun(record, createPlan(optionsFor(record)))
  const jobs = record.jobs.map((job) => jobRun(job, run))
  const isValue = (value: unknown) =>
    value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
  return [
    ...resourceAttributes.map(({ keys, needs, from }) => ({ keys, needs, hasValue: isValue(from(run)) })),
    ...pipelineAttributes.map(({ keys, needs, from }) => ({ keys, needs, hasValue: isValue(from(run)) })),
    ...jobAttributes.map(({ keys, needs, from }) => ({
      keys,
      needs,
      hasValue: jobs.some((job) => isValue(from(job))),
    })),
  ].flatMap(({ needs, ...row }) => (needs === undefined || isNamedByOption(needs) ? [] : [{ ...row, needs }]))

  function isNamedByOption(needs: readonly string[]): boolean {
    return record.unnamed !== undefined && needs.some((field) => field.startsWith('project.'))
  }
}

/** Returns the fields with a value that no attribute may have: attributes with integers, of forges with ids that are texts. */
const textIds = ({ user, upstream }: PipelineRecord): string[] => [
  ...(user?.id === undefined ? [] : ['user.id']),
  ...(upstream === undefined ? [] : ['source_pipeline.pipeline_id']),
]

describe.each(forgesWithTables)('%s', (forge) => {
  const bodies = allBodies.filter(({ record }) => record.forge === forge)

  test('an attribute with a value has a field in the table of the forge', () => {
    const found = bodies.flatMap((body) =>
      rowsWithValues(body)
        .filter(({ needs, hasValue }) => hasValue && needs.every((field) => isUnknown(body.payload, field)))
        .map(({ keys }) => `${body.name}: ${keys.join()}`),
    )
    expect(found).toEqual([])
  })

  test('a field in the table of the forge gives an attribute a value in some payload', () => {
    const filled = new Set<string>()
    const claimed = new Set<string>()
    for (const body of bodies) {
      for (const field of textIds(body.record)) filled.add(field)
      for (const { needs, hasValue } of rowsWithValues(body)) {
        for (const field of needs.filter((need) => !isUnknown(body.payload, need)))
          (hasValue ? filled : claimed).add(field)
      }
    }
    expect([...claimed].filter((field) => !filled.has(field))).toEqual([])
  })

  test('check says why an attribute is absent, and that a field is not part of the payloads', () => {
    for (const { name, record, payload } of bodies) {
      const { gaps } = checkRecord(record, payload, optionsFor(record), 1n)
      for (const { names, reason } of gaps)
        expect([name, names, reason]).toEqual([name, names, expect.stringMatching(/\w/)])
      const absent = rowsWithValues({ record }).filter(({ needs }) => needs.every((field) => isUnknown(payload, field)))
      for (const { keys } of absent) {
        const gap = gaps.find(({ names }) => names.join() === keys.join())
        if (gap !== undefined) expect(gap.reason).toContain('is not part of the forge’s payloads')
      }
    }
  })
})
