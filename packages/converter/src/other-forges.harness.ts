import type { JobRecord, PipelineRecord, StepRecord } from '@penstock/forges/record'
import { absentJobFields, absentRunFields } from '../../forges/src/record/absent-fields.ts'

/** Returns a time in seconds after the creation of the run. */
export const second = (at: number): bigint => 1_770_091_500_000_000_000n + BigInt(at) * 1_000_000_000n

export const step = (name: string | undefined, status: string, startAt?: number, endAt?: number): StepRecord => ({
  name,
  status,
  startedAtNs: startAt === undefined ? undefined : second(startAt),
  finishedAtNs: endAt === undefined ? undefined : second(endAt),
})

export const job = (more: Partial<JobRecord> = {}): JobRecord => ({
  ...absentJobFields,
  id: 71n,
  bridge: false,
  name: 'build (20)',
  status: 'success',
  createdAtNs: second(0),
  startedAtNs: second(10),
  finishedAtNs: second(40),
  allowFailure: false,
  effective: true,
  ...more,
})

export const run = (more: Partial<PipelineRecord> = {}): PipelineRecord => ({
  ...absentRunFields,
  forge: 'github',
  id: 30_433_642n,
  name: 'CI',
  status: 'success',
  createdAtNs: second(0),
  startedAtNs: second(0),
  updatedAtNs: second(60),
  project: { id: 5n, name: 'app', webUrl: 'https://github.com/team/app', path: 'team/app' },
  jobs: [job()],
  bridgesListed: false,
  receivedAtNs: undefined,
  ...more,
})
