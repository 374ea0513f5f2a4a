import { headPipelineOfEachMergeRequest } from '@penstock/core'
import type { Kit } from './kit.ts'
import { ask } from './request-context.ts'

/** Pipelines of the source branch. @see spec/graphql-contract.md 5.7 */
export function addMergeRequestPipelines({ builder }: Kit): void {
  builder.objectFields('MergeRequest', (t) => ({
    headPipeline: t.field({
      type: 'Pipeline',
      resolve: (source, _args, context) => ask(context, headPipelineOfEachMergeRequest, source),
    }),
    hasCi: t.boolean({
      nullable: false,
      resolve: async (source, _args, context) =>
        (await ask(context, headPipelineOfEachMergeRequest, source)) !== undefined,
    }),
  }))
}
