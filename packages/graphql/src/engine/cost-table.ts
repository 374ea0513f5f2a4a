/**
 * The cost of a field besides the fields below it, if it is not 1.
 *
 * - `resolver`: the field has its own lookup. Its arguments count, and its page size if it is a connection.
 * - `repository`: adds 1, because the field reads from a repository.
 */
export interface Cost {
  readonly resolver?: true
  readonly repository?: true
  /** The extra cost of each argument that is present. */
  readonly arguments?: Readonly<Record<string, number>>
  /** The extra cost if any argument is present. */
  readonly anyArgument?: number
}

const resolver: Cost = { resolver: true }
const pipelines: Cost = { resolver: true, arguments: { ref: 2, sha: 2 } }
const issues: Cost = { resolver: true, arguments: { labelName: 2 } }
const repository: Cost = { repository: true }

/** The costs by `Type.field`. An entry for an interface applies to its object types. */
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
