import { headPipelineOfEachMergeRequest } from '@penstock/core'
import { loadBatched } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'

/** Adds the fields for the newest pipeline of the head commit of the source branch. */
export function addMergeRequestPipelines({ builder }: Kit): void {
  builder.objectFields('MergeRequest', (t) => ({
    headPipeline: t.field({
      type: 'Pipeline',
      resolve: (source, _args, context) => loadBatched(context, headPipelineOfEachMergeRequest, source),
    }),
    hasCi: t.boolean({
      nullable: false,
      resolve: async (source, _args, context) =>
        (await loadBatched(context, headPipelineOfEachMergeRequest, source)) !== undefined,
    }),
  }))
}
