import type { ReadContext } from '../../base/kit/store-context.ts'
import { settingsFrom } from '../../base/kit/stored-settings.ts'
import { type ProjectSettings, projectSettings } from '../../base/model/project-settings.ts'
import type { Pipeline } from '../../ci/pipelines/pipeline.ts'
import { isComplete } from '../../ci/pipelines/pipeline-status.ts'
import { mergeRequestsWithOpenDiscussions } from '../notes/note-store.ts'
import { findHeadPipelines } from './head-pipelines.ts'
import type { MergeConditions } from './merge-request.ts'
import type { MergeRequestRow } from './merge-request-store.ts'

/**
 * Loads the facts that decide whether the merge requests of a page can be merged, and returns a function that gives those of a row.
 * Discussions and pipelines are read only for open ones in projects that require them. The number of queries is constant.
 */
export async function mergeConditionsByRow(
  context: ReadContext,
  rows: readonly MergeRequestRow[],
): Promise<(row: MergeRequestRow) => MergeConditions> {
  const settings = new Map(rows.map((row) => [row.id, settingsFrom(projectSettings, row.project_settings)]))
  const open = rows.filter(({ state }) => state === 'opened')
  const openWith = (isRequired: (settings: ProjectSettings) => boolean | undefined) =>
    open.filter(({ id }) => isRequired(settings.get(id)!))

  const discussed = openWith(({ onlyAllowMergeIfAllDiscussionsAreResolved: required }) => required)
  const unresolved = await mergeRequestsWithOpenDiscussions(
    context,
    discussed.map(({ id }) => id),
  )
  const tested = openWith(({ onlyAllowMergeIfPipelineSucceeds: required }) => required)
  const pipelines = await findHeadPipelines(context, tested.map(withHead))
  const blockers = new Map(
    tested.map(({ id }, index) => [id, pipelineBlocker(pipelines[index], settings.get(id)!)] as const),
  )
  return ({ id, branch_sha, target_sha, checked_target_sha, check_outcome: outcome, check_is_behind }) => ({
    method: settings.get(id)!.mergeMethod,
    hasBlockingDiscussions: unresolved.has(id),
    pipelineBlocker: blockers.get(id),
    branchCheck:
      outcome !== null && checked_target_sha === target_sha ? { outcome, isBehind: check_is_behind === 1 } : undefined,
    hasBranches: branch_sha !== null && target_sha !== null,
  })
}

const withHead = ({ project_id, iid, source_branch, branch_sha }: MergeRequestRow) => ({
  projectId: project_id,
  iid,
  sourceBranch: source_branch,
  sha: branch_sha ?? undefined,
})

function pipelineBlocker(pipeline: Pipeline | undefined, settings: ProjectSettings) {
  if (pipeline === undefined) return 'ci_must_pass'
  if (!isComplete(pipeline.status)) return 'ci_still_running'
  const passes =
    pipeline.status === 'success' || (pipeline.status === 'skipped' && settings.allowMergeOnSkippedPipeline)
  return passes ? undefined : 'ci_must_pass'
}
