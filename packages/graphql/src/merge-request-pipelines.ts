import { headPipelineOfEachMergeRequest } from '@penstock/core'
import type { Kit } from './kit.ts'
import { loadBatched } from './request-context.ts'

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
