import { query } from '../../base/operations/operation.ts'
import { type CommitWithStats, getCommitInput, readCommit } from '../../code/repositories/commit-operations.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { lastPipelineOfEach } from './commit-pipeline-store.ts'
import type { Pipeline } from './pipeline.ts'

export interface CommitWithPipeline extends CommitWithStats {
  /** The newest pipeline of the commit; `undefined` if there is none, or the actor may not see it. */
  readonly lastPipeline: Pipeline | undefined
}

/** Works like `getCommit`, and adds the last pipeline. */
export const getCommitWithPipeline = query(
  {
    name: 'getCommitWithPipeline',
    caller: 'anyone',
    input: getCommitInput,
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async (context, input): Promise<CommitWithPipeline> => {
    const commit = await readCommit(context.core, context.subject, input)
    const [lastPipeline] = await lastPipelineOfEach(context, [{ projectId: context.subject.id, sha: commit.sha }])
    return { ...commit, lastPipeline }
  },
)
