import { type Cost, lookup as resolver } from '../schema/cost.ts'

const pipelines: Cost = { resolver: true, arguments: { ref: 2, sha: 2 } }
const issues: Cost = { resolver: true, arguments: { labelName: 2 } }
const repository: Cost = { repository: true }

/**
 * The costs of fields that do not declare their own, by `Type.field`. An entry for an interface applies
 * to its object types.
 */
export const costTable: Readonly<Record<string, Cost>> = {
  'Query.project': resolver,
  'Query.projects': resolver,
  'Query.group': resolver,
  'Query.groups': resolver,
  'Query.namespace': resolver,
  'Query.user': resolver,
  'Query.users': resolver,
  'Query.issues': issues,
  'Query.mergeRequests': resolver,
  'Query.jobs': resolver,
  'Query.runner': resolver,
  'Query.metadata': resolver,
  'Query.echo': resolver,
  'User.authoredMergeRequests': resolver,
  'User.assignedMergeRequests': resolver,
  'User.reviewRequestedMergeRequests': resolver,
  'Project.pipeline': { resolver: true, repository: true, anyArgument: -10 },
  'Project.pipelines': pipelines,
  'MergeRequest.pipelines': pipelines,
  'Commit.pipelines': pipelines,
  'Project.issue': issues,
  'Project.issues': issues,
  'Group.issues': issues,
  'Project.mergeRequest': resolver,
  'Project.mergeRequests': resolver,
  'Group.mergeRequests': resolver,
  'Project.jobs': resolver,
  'Project.pipelineCounts': resolver,
  'Project.issueStatusCounts': resolver,
  'Project.projectMembers': resolver,
  'Group.groupMembers': resolver,
  'Group.projects': resolver,
  'Group.descendantGroups': resolver,
  'Pipeline.jobs': resolver,
  'Pipeline.stages': resolver,
  'DetailedStatus.action': repository,
  'DetailedStatus.label': repository,
  'Pipeline.commit': repository,
  'Repository.blobs': repository,
  'Repository.commit': repository,
  'Repository.tree': repository,
  'Repository.paginatedTree': { resolver: true, repository: true },
  'Tree.lastCommit': repository,
  'RepositoryBlob.blame': repository,
  'Commit.latestPipeline': repository,
}
