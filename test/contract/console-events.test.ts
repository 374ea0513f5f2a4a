import { expect, test } from 'vitest'
import { auditEventNames as known } from '../../packages/gateway/src/operations/audit-event.ts'
import { auditEventNames as shown } from '../../packages/web/src/pages/ingest/audit-model.ts'

test('the console has words for every event of the audit log, and offers no other to filter by', () => {
  expect(shown.map(({ value }) => value).toSorted()).toEqual([...known].toSorted())
})
