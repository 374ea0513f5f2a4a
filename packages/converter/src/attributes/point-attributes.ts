import type { AttributeTable } from '../base/attribute-table.ts'
import {
  ATTR_CICD_PIPELINE_NAME,
  ATTR_CICD_PIPELINE_RESULT,
  ATTR_CICD_PIPELINE_RUN_STATE,
  ATTR_CICD_PIPELINE_TASK_TYPE,
  ATTR_ERROR_TYPE,
  ATTR_SVC_TRIGGER_TYPE,
  ATTR_VCS_REF_HEAD_TYPE,
} from '../base/semconv.ts'
import type { PipelineRun } from '../run/run.ts'

/** The values that distinguish the points of one metric within a run. */
export interface PointDimensions {
  readonly state?: 'pending'
  readonly stage?: string | undefined
  readonly errorType?: string | undefined
}

export interface PointContext extends PointDimensions {
  readonly run: PipelineRun
}

/** The value that replaces a ref that does not match the option `refLabel`. */
const OTHER_REF = '#other#'

/** Attributes of data points: first those of all metrics, then those of some metrics. */
export const pointAttributes: AttributeTable<PointContext> = [
  { keys: ['pipeline.status'], type: 'string', from: ({ run }) => run.record.status, absent: 'never' },
  {
    keys: ['pipeline.ref'],
    type: 'string',
    from: ({ run }) => refLabel(run),
    needs: ['object_attributes.ref'],
    absent: 'blank',
  },
  {
    keys: [ATTR_CICD_PIPELINE_NAME],
    type: 'string',
    from: ({ run }) => run.record.name ?? run.record.project.name,
    needs: ['object_attributes.name', 'project.name'],
    absent: 'neither the pipeline nor the project has a name',
  },
  {
    keys: [ATTR_CICD_PIPELINE_RESULT],
    type: 'string',
    from: ({ run }) => run.result,
    absent: 'the status has no result',
  },
  {
    keys: [ATTR_CICD_PIPELINE_RUN_STATE],
    type: 'string',
    from: ({ run, state }) => state ?? run.options.runState,
    absent: 'never',
  },
  {
    keys: [ATTR_SVC_TRIGGER_TYPE],
    type: 'string',
    from: ({ run }) => run.record.source,
    needs: ['object_attributes.source'],
    absent: 'blank',
  },
  {
    keys: [ATTR_VCS_REF_HEAD_TYPE],
    type: 'string',
    from: ({ run }) => run.refType,
    needs: ['object_attributes.tag', 'merge_request'],
    absent: 'unknown',
  },
  {
    keys: ['job.stage', ATTR_CICD_PIPELINE_TASK_TYPE],
    type: 'string',
    from: ({ stage }) => stage,
    absent: 'not a metric by stage, or jobs without a stage',
  },
  { keys: [ATTR_ERROR_TYPE], type: 'string', from: ({ errorType }) => errorType, absent: 'not a metric by error' },
]

function refLabel({ record, plan }: PipelineRun): string | undefined {
  return record.ref === undefined || plan.keepsRef(record.ref) ? record.ref : OTHER_REF
}
