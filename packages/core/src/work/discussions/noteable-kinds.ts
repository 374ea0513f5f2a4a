import { z } from 'zod'
import type { Permission } from '../../base/access/permission-table.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { viewSnippet } from '../../code/snippets/snippet-changes.ts'
import { getIssue } from '../issues/issue-changes.ts'
import { getMergeRequest } from '../merge-requests/merge-request-changes.ts'
import type { NoteableType } from '../notes/note.ts'
import type { Noteable, There } from '../notes/noteable.ts'

export interface OnProject {
  readonly project: number | string
}

/** The differences between the types in the operations on notes. */
export interface NoteableKind<Input extends OnProject = OnProject> {
  readonly type: NoteableType
  /** `Issue` for `listNotesOfIssue`. */
  readonly noun: string
  /** The parameter that identifies one in its project. */
  readonly key: z.ZodRawShape
  /** The permission to read it. */
  readonly read: Permission
  /** Whether its notes can be internal. */
  readonly hasInternalNotes: boolean
  /** Set if `find` reads a repository, and must not run in a transaction. */
  readonly isInRepository?: true
  /** @throws DomainError `not_found`, also if the actor may not see it */
  find(context: There, input: Input): Promise<Noteable>
}

const kindOf = <Key extends z.ZodRawShape>(
  kind: NoteableKind<OnProject & z.output<z.ZodObject<Key>>> & { readonly key: Key },
): NoteableKind => kind

export const noteableKinds = {
  issue: kindOf({
    type: 'issue',
    noun: 'Issue',
    key: { issueIid: z.int() },
    read: 'read_issue',
    hasInternalNotes: true,
    async find(context, { issueIid }) {
      const issue = await getIssue(context, context.actor, context.subject, issueIid)
      return { ...common('issue', issue), iid: issue.iid, isLocked: issue.isDiscussionLocked === true }
    },
  }),
  mergeRequest: kindOf({
    type: 'merge_request',
    noun: 'MergeRequest',
    key: { mergeRequestIid: z.int() },
    read: 'read_merge_request',
    hasInternalNotes: true,
    async find(context, { mergeRequestIid }) {
      const item = await getMergeRequest(context, context.actor, context.subject, mergeRequestIid)
      return { ...common('merge_request', item), iid: item.iid, isLocked: item.isDiscussionLocked === true }
    },
  }),
  snippet: kindOf({
    type: 'snippet',
    noun: 'Snippet',
    key: { snippetId: z.int() },
    read: 'read_snippet',
    hasInternalNotes: false,
    async find(context, { snippetId }) {
      const { snippet } = await viewSnippet(context, snippetId, { project: context.subject })
      return { ...common('snippet', { ...snippet, projectId: context.subject.id }), isLocked: false }
    },
  }),
  commit: kindOf({
    type: 'commit',
    noun: 'Commit',
    key: { sha: z.string().min(1).max(1_024) },
    read: 'read_repository',
    hasInternalNotes: false,
    isInRepository: true,
    async find({ core, subject }, { sha: revision }) {
      const sha = await (await findProjectRepository(core, subject))?.findCommit(revision)
      if (sha === undefined) throw notFound('Commit')
      const projectId = subject.id
      return { type: 'commit', projectId, id: undefined, sha, iid: undefined, authorId: undefined, isLocked: false }
    },
  }),
}

const common = (
  type: NoteableType,
  { id, projectId, author }: { id: number; projectId: number; author: { readonly id: number } | undefined },
) => ({ type, id, projectId, authorId: author?.id, sha: undefined, iid: undefined })
