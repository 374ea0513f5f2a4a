import { temporarySchema } from '@penstock/testkit'
import { describeExporter } from '../../packages/exporter/src/exporter.case.ts'
import { describeRunFetcher } from '../../packages/exporter/src/fetching/run-fetcher.case.ts'
import { describeRecordIntake } from '../../packages/exporter/src/intake/record-intake.case.ts'
import { describeRunsWithoutJobs } from '../../packages/exporter/src/intake/runs-without-jobs.case.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

describeWithPostgres('PostgreSQL', (serverUrl) => {
  describeRecordIntake('record intake', () => temporarySchema(serverUrl()))
  describeRunsWithoutJobs('runs without jobs', () => temporarySchema(serverUrl()))
  describeRunFetcher('runs that are read from their forge', () => temporarySchema(serverUrl()))
  describeExporter('exporter', () => temporarySchema(serverUrl()))
})
