import { temporarySchema } from '@penstock/testkit'
import { describeQueue } from '../../packages/delivery/src/queue/queue.case.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

describeWithPostgres('PostgreSQL', (serverUrl) => {
  describeQueue('delivery queue', () => temporarySchema(serverUrl()))
})
