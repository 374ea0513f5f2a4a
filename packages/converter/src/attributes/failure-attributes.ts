import { type JobFailure, MAX_FAILURE_BYTES } from '@penstock/forges/record'
import type { AttributeTable } from '../base/attribute-table.ts'
import { ATTR_SVC_TASK_FAILURE_FINGERPRINT, ATTR_SVC_TASK_FAILURE_LINES } from '../base/semconv.ts'

/** Attributes of the event of a job's span that contains the failing lines. */
export const failureAttributes: AttributeTable<JobFailure> = [
  {
    keys: [ATTR_SVC_TASK_FAILURE_LINES],
    type: 'string',
    maxBytes: MAX_FAILURE_BYTES,
    from: ({ lines }) => lines,
    extension: true,
    absent: 'never',
  },
  {
    keys: [ATTR_SVC_TASK_FAILURE_FINGERPRINT],
    type: 'string',
    from: ({ fingerprint }) => fingerprint,
    extension: true,
    absent: 'never',
  },
]
