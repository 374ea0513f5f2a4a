import type { AttributeTable } from '../base/attribute-table.ts'
import { ATTR_CICD_PIPELINE_NAME, ATTR_CICD_PIPELINE_RUN_ID, ATTR_CICD_PIPELINE_TASK_TYPE } from '../base/semconv.ts'
import type { PipelineRun } from '../run/run.ts'

export interface StageContext {
  readonly run: PipelineRun
  readonly stage: string
}

/** Attributes of the opt-in stage spans. */
export const stageAttributes: AttributeTable<StageContext> = [
  { keys: ['job.stage', ATTR_CICD_PIPELINE_TASK_TYPE], type: 'string', from: ({ stage }) => stage, absent: 'never' },
  { keys: [ATTR_CICD_PIPELINE_RUN_ID], type: 'string', from: ({ run }) => String(run.record.id), absent: 'never' },
  {
    keys: [ATTR_CICD_PIPELINE_NAME],
    type: 'string',
    from: ({ run }) => run.record.name ?? run.record.project.name,
    needs: ['object_attributes.name', 'project.name'],
    absent: 'neither the pipeline nor the project has a name',
  },
]
