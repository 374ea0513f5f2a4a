import type {
  Group,
  Issue,
  JobOfPipeline,
  Label,
  ListedCommit,
  Member,
  MergeRequest,
  Milestone,
  Pipeline,
  Project,
  RepositoryReader,
  ShownVariable,
  User,
} from '@penstock/core'

/** A user with one role in a merge request: author, assignee, reviewer or participant. */
export interface PersonOfMergeRequest extends User {
  readonly mergeRequest: MergeRequest
}

/** The group or user to which a namespace belongs. */
export type NamespaceSource =
  | { readonly group: Group; readonly user?: never }
  | { readonly user: User; readonly group?: never }

export interface CommitOfProject extends ListedCommit {
  readonly inProject: Project
}

declare module './schema-types.ts' {
  interface InterfaceSources {
    User: User
    MemberInterface: Member
    GroupInterface: Group
    ProjectInterface: Project
    PipelineInterface: Pipeline
    CiJobInterface: JobOfPipeline
    CiVariable: ShownVariable
  }
  interface ObjectSources {
    UserCore: User
    CurrentUser: User
    MergeRequestAuthor: PersonOfMergeRequest
    MergeRequestAssignee: PersonOfMergeRequest
    MergeRequestReviewer: PersonOfMergeRequest
    MergeRequestParticipant: PersonOfMergeRequest
    Namespace: NamespaceSource
    Group: Group
    Project: Project
    GroupMember: Member
    ProjectMember: Member
    Label: Label
    Repository: RepositoryReader
    Commit: CommitOfProject
    Pipeline: Pipeline
    CiJob: JobOfPipeline
    MergeRequest: MergeRequest
    Issue: Issue
    Milestone: Milestone
    CiProjectVariable: ShownVariable
    CiGroupVariable: ShownVariable
  }
}
