/**
 * What a field costs beside the fields below it, where that is not 1.
 *
 * - `resolver`: has a lookup of its own: its arguments count, and as a connection its page size.
 * - `repository`: adds 1, for it reads from a repository.
 *
 * @see spec/graphql-contract.md 2.3
 */
export interface Cost {
  readonly resolver?: true
  readonly repository?: true
  /** By argument, when it is given. */
  readonly arguments?: Readonly<Record<string, number>>
  /** Once, when any argument is given. */
  readonly anyArgument?: number
}

const resolver: Cost = { resolver: true }
const pipelines: Cost = { resolver: true, arguments: { ref: 2, sha: 2 } }
const issues: Cost = { resolver: true, arguments: { labelName: 2 } }
const repository: Cost = { repository: true }

/** `Type.field`; a field of an interface stands for those of its objects. */
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
  'Query.ciVariables': resolver,
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
  'Project.milestones': resolver,
  'Group.milestones': resolver,
  'Project.ciVariables': resolver,
  'Project.inheritedCiVariables': resolver,
  'Project.jobs': resolver,
  'Project.pipelineCounts': resolver,
  'Project.issueStatusCounts': resolver,
  'Project.projectMembers': resolver,
  'Project.labels': resolver,
  'Group.ciVariables': resolver,
  'Group.groupMembers': resolver,
  'Group.projects': resolver,
  'Group.descendantGroups': resolver,
  'Group.labels': resolver,
  'Pipeline.jobs': resolver,
  'Pipeline.stages': resolver,
  'DetailedStatus.action': repository,
  'DetailedStatus.label': repository,
  'Pipeline.commit': repository,
  'Repository.blobs': repository,
  'Repository.commit': repository,
  'Commit.latestPipeline': repository,
}
