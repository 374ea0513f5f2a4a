import type { AttributeTable } from '../base/attribute-table.ts'
import {
  ATTR_SVC_STEP_NAME,
  ATTR_SVC_STEP_NUMBER,
  ATTR_SVC_STEP_RESULT,
  ATTR_SVC_STEP_STATUS,
  ATTR_SVC_STEP_TITLE,
  ATTR_SVC_TIMESTAMPS_ADJUSTED,
} from '../base/semconv.ts'
import type { StepRun } from '../run/steps.ts'

/** Attributes of a step's span. */
export const stepAttributes: AttributeTable<StepRun> = [
  { keys: [ATTR_SVC_STEP_NAME], type: 'string', from: ({ step }) => step.name, extension: true, absent: 'blank' },
  { keys: [ATTR_SVC_STEP_NUMBER], type: 'int', from: ({ number }) => BigInt(number), extension: true, absent: 'never' },
  { keys: [ATTR_SVC_STEP_STATUS], type: 'string', from: ({ step }) => step.status, extension: true, absent: 'never' },
  {
    keys: [ATTR_SVC_STEP_RESULT],
    type: 'string',
    from: ({ result }) => result,
    extension: true,
    absent: 'the status has no result',
  },
  {
    keys: [ATTR_SVC_STEP_TITLE],
    type: 'string',
    from: ({ step }) => step.section?.title,
    extension: true,
    absent: 'not a section of a job log, or one without a header',
  },
  {
    keys: [ATTR_SVC_TIMESTAMPS_ADJUSTED],
    type: 'bool',
    from: ({ times }) => times.adjusted || undefined,
    extension: true,
    absent: 'times are as given',
  },
]
