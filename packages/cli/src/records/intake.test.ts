import { type ConvertOptionsInput, resolveOptions } from '@penstock/converter'
import { describe, expect, test } from 'vitest'
import { type Admission, type Admitted, Intake, rememberedExportedJobs } from './intake.ts'

const project = (host: string) => ({ web_url: `https://${host}/harbour/tide-tables` })

interface Hook {
  readonly id: number
  readonly status?: string
  readonly finishedAt?: string
  readonly source?: number
  readonly host?: string
  readonly jobs?: readonly number[]
}

function hook({
  id,
  status = 'success',
  finishedAt = '2026-02-11 09:25:11 UTC',
  source,
  host = 'ci.example.com',
  jobs = [],
}: Hook) {
  return {
    object_kind: 'pipeline',
    object_attributes: { id, status, finished_at: finishedAt },
    project: project(host),
    builds: jobs.map((job) => ({ id: job, name: `job ${job}`, status: 'success' })),
    ...(source !== undefined && { source_pipeline: { pipeline_id: source, project: project(host) } }),
  }
}

const jobHook = (more: Readonly<Record<string, unknown>>) => ({
  object_kind: 'build',
  build_id: 7,
  build_status: 'success',
  pipeline_id: 1,
  project: project('ci.example.com'),
  ...more,
})

const nowNs = 1_800_000_000_000_000_000n

function intake(options: ConvertOptionsInput = {}) {
  const under = new Intake(resolveOptions(options), { receivedAtNs: undefined }, () => nowNs)
  return {
    admit: (body: unknown) => under.admit(body),
    /** Admits a body, and remembers it as exported if it is admitted. */
    export(body: unknown): Admission {
      const admission = under.admit(body)
      if (admission.kind === 'export') under.remember(admission)
      return admission
    },
  }
}

const recordOf = (admission: Admission) => (admission as Admitted).record
const reasonOf = (admission: Admission) => (admission.kind === 'skip' ? admission.reason : undefined)

describe('attempts that only a hook of the unfinished pipeline lists', () => {
  const running = { ...hook({ id: 1, status: 'running' }), builds: [{ id: 7, name: 'unit', status: 'failed' }] }
  const finished = { ...hook({ id: 1 }), builds: [{ id: 8, name: 'unit', status: 'success' }] }
  const attempts = [
    { id: 7n, status: 'failed', attempt: 1, effective: false },
    { id: 8n, status: 'success', attempt: 2, previousAttemptId: 7n, effective: true },
  ]

  test('are part of its record', () => {
    const { admit } = intake()
    expect(reasonOf(admit(running))).toContain('running')
    expect(recordOf(admit(finished)).jobs).toMatchObject(attempts)
  })

  test('are part of its record if that comes first in files', () => {
    const under = new Intake(resolveOptions({}), { receivedAtNs: undefined }, () => nowNs)
    for (const body of [finished, running]) under.survey(body)
    under.surveyed()
    expect(recordOf(under.admit(finished)).jobs).toMatchObject(attempts)
  })
})

describe('each pipeline is exported once', () => {
  test('a redelivery and a second completion are skipped', () => {
    const run = intake()
    expect(run.export(hook({ id: 1 })).kind).toBe('export')
    expect(reasonOf(run.export(hook({ id: 1 })))).toBe('pipeline 1: already exported')
    expect(reasonOf(run.export(hook({ id: 1, finishedAt: '2026-02-11 10:00:00 UTC' })))).toBe(
      'pipeline 1: already exported',
    )
  })

  test('the same id in another instance is another pipeline', () => {
    const run = intake()
    run.export(hook({ id: 1 }))
    expect(run.export(hook({ id: 1, host: 'ci.example.org' })).kind).toBe('export')
  })

  test('a record that was admitted but not exported is admitted again', () => {
    const run = intake()
    run.admit(hook({ id: 1 }))
    expect(run.admit(hook({ id: 1 })).kind).toBe('export')
  })
})

describe('reexport', () => {
  test('a redelivery is skipped, and a second completion has the ids of all jobs sent before', () => {
    const run = intake({ reexport: 'replace' })
    run.export(hook({ id: 1, jobs: [10, 11] }))
    expect(reasonOf(run.export(hook({ id: 1, jobs: [10, 11] })))).toBe('pipeline 1: already exported')
    const second = run.export(hook({ id: 1, finishedAt: '2026-02-11 10:00:00 UTC', jobs: [10, 12] }))
    expect(recordOf(second).previousExport).toEqual({ jobIds: new Set([10n, 11n]) })
    const third = run.export(hook({ id: 1, finishedAt: '2026-02-11 11:00:00 UTC', jobs: [13] }))
    expect(recordOf(third).previousExport).toEqual({ jobIds: new Set([10n, 11n, 12n]) })
  })

  test('the number of stored jobs of all earlier exports is bounded', () => {
    const run = new Intake(resolveOptions({ reexport: 'replace' }), { receivedAtNs: undefined }, () => nowNs)
    for (const id of [1, 2, 3]) {
      const admitted = run.admit(hook({ id, jobs: [7] })) as Admitted
      const [job] = admitted.record.jobs
      const jobs = Array.from({ length: rememberedExportedJobs / 2 }, (_, at) => ({ ...job!, id: BigInt(at) }))
      run.remember({ ...admitted, record: { ...admitted.record, jobs } })
    }
    expect([3, 2, 1].map((id) => run.admit(hook({ id, jobs: [7] })).kind)).toEqual(['skip', 'skip', 'export'])
  })

  test('a late hook with an earlier state is not a completion', () => {
    const run = intake({ reexport: 'replace' })
    run.export(hook({ id: 1 }))
    expect(reasonOf(run.admit(hook({ id: 1, status: 'running' })))).toBe('pipeline 1: not final (running)')
  })
})

describe('roots', () => {
  test('are set in admitted records', () => {
    expect(intake().admit(hook({ id: 3, source: 2 }))).toMatchObject({ kind: 'export', rootId: 2n })
    expect(intake().admit(hook({ id: 3 }))).toMatchObject({ kind: 'export', rootId: 3n })
  })

  test('are read from unfinished pipelines and from job hooks', () => {
    const run = intake()
    run.admit(hook({ id: 2, status: 'running', source: 1 }))
    expect(recordOf(run.admit(hook({ id: 3, source: 2 }))).rootPipelineId).toBe(1n)
    run.admit(jobHook({ pipeline_id: 12, source_pipeline: { pipeline_id: 11, project: project('ci.example.com') } }))
    expect(recordOf(run.admit(hook({ id: 13, source: 12 }))).rootPipelineId).toBe(11n)
  })

  test('that change after the export cause a warning and no new export', () => {
    const run = intake()
    run.export(hook({ id: 3, source: 2 }))
    run.admit(hook({ id: 2, source: 1 }))
    expect(reasonOf(run.admit(hook({ id: 3, source: 2 })))).toBe(
      'pipeline 3: already exported in the trace of pipeline 2, but this record belongs to the trace of 1',
    )
  })

  test('a cycle is broken, with a warning', () => {
    const run = intake()
    run.admit(hook({ id: 1, source: 2 }))
    const second = run.admit(hook({ id: 2, source: 1 }))
    expect(recordOf(second)).toMatchObject({ rootPipelineId: 2n, upstream: undefined })
    expect((second as Admitted).warnings.items.at(-1)).toMatchObject({ path: 'source_pipeline' })
  })
})

test('a record without any time gets the time of reading, with a warning', () => {
  const admission = intake().admit({ object_kind: 'pipeline', object_attributes: { id: 1, status: 'success' } })
  expect(recordOf(admission).receivedAtNs).toBe(nowNs)
  expect((admission as Admitted).warnings.items.at(-1)?.reason).toMatch(/no time at all/)
})

test('a job has the values of all its hooks', () => {
  const run = intake()
  run.admit(jobHook({ retries_count: 2, runner: { id: 4, description: 'shed' } }))
  expect(reasonOf(run.admit(jobHook({ build_status: 'success' })))).toBe('job hook, kept for pipeline 1')
  const [job] = recordOf(run.admit(hook({ id: 1, jobs: [7] }))).jobs
  expect(job).toMatchObject({ attempt: 3, runner: { description: 'shed' } })
})

test('a job hook after its pipeline is kept only if the pipeline may be exported again', () => {
  const late = (options: ConvertOptionsInput) => {
    const run = intake(options)
    run.export(hook({ id: 1, jobs: [7] }))
    return reasonOf(run.export(jobHook({})))
  }
  expect(late({})).toBe('job hook of pipeline 1, which has been exported without it')
  expect(late({ reexport: 'replace' })).toBe('job hook, kept for pipeline 1')
})
