import {
  type NoteFacts,
  noteableIdOf,
  type ProjectFacts,
  snippetWebPath,
  type User,
  visibilities,
} from '@penstock/core'
import { issueAttributes } from './issue.ts'
import { mergeRequestAttributes } from './merge-request.ts'
import { positionJson } from './note-position.ts'
import {
  commitUrl,
  hookTime,
  hookTimeOrNull,
  type Json,
  projectJson,
  repositoryJson,
  userJson,
  withImageUrls,
} from './shared-objects.ts'

export interface NoteEventFacts extends NoteFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly action: 'create' | 'update'
}

/** Returns whether a note is internal, or on a confidential issue. */
export const isConfidential = ({ note, on }: NoteFacts): boolean =>
  note.isInternal || (on.kind === 'issue' && on.issue.isConfidential)

/** Returns the payload. A commit, a diff and the content of a snippet are added when it is sent. */
export function notePayload(event: NoteEventFacts, externalUrl: string): Json {
  const { facts, user } = event
  return {
    object_kind: 'note',
    event_type: isConfidential(event) ? 'confidential_note' : 'note',
    user: userJson(user, externalUrl),
    project_id: facts.project.id,
    project: projectJson(facts, externalUrl),
    object_attributes: { ...noteAttributes(event, externalUrl), action: event.action },
    repository: repositoryJson(facts, externalUrl),
    ...notedJson(event, externalUrl),
  }
}

const noteableTypes = { issue: 'Issue', merge_request: 'MergeRequest', snippet: 'Snippet', commit: 'Commit' } as const
const kinds = { individual: null, discussion: 'DiscussionNote', diff: 'DiffNote' } as const

type NoteInProject = Pick<NoteEventFacts, 'facts' | 'note' | 'on'>
type NotedInProject = Pick<NoteEventFacts, 'facts' | 'on'>

/** Returns a note as its own events and those of its reactions show it. */
export function noteAttributes(event: NoteInProject, externalUrl: string): Json {
  const { note } = event
  const position = note.position === undefined ? null : positionJson(note.position)
  const body = withImageUrls(note.body, event.facts.project.fullPath, externalUrl)
  return {
    id: note.id,
    note: body,
    description: body,
    noteable_type: noteableTypes[note.noteableType],
    noteable_id: noteableIdOf(note) ?? null,
    author_id: note.authorId ?? null,
    project_id: note.projectId,
    created_at: hookTime(note.createdAtMs),
    updated_at: hookTime(note.updatedAtMs),
    updated_by_id: note.updatedById ?? null,
    attachment: null,
    line_code: null,
    commit_id: note.commitSha ?? null,
    discussion_id: note.discussionId,
    type: kinds[note.kind],
    position,
    original_position: position,
    change_position: null,
    resolved_at: hookTimeOrNull(note.resolvedAtMs),
    resolved_by_id: note.resolvedById ?? null,
    resolved_by_push: null,
    system: note.isSystem,
    internal: note.isInternal,
    st_diff: null,
    url: `${notedUrl(event, externalUrl)}#note_${note.id}`,
  }
}

/** Returns the address of the issue, merge request, snippet or commit. */
export function notedUrl({ facts: { project }, on }: NotedInProject, externalUrl: string): string {
  const web = `${externalUrl}/${project.fullPath}`
  switch (on.kind) {
    case 'issue':
      return `${web}/-/issues/${on.issue.iid}`
    case 'merge_request':
      return `${web}/-/merge_requests/${on.mergeRequest.iid}`
    case 'snippet':
      return `${externalUrl}/${snippetWebPath(on.snippet)}`
    case 'commit':
      return commitUrl(project, on.sha, externalUrl)
  }
}

/** Returns the issue, merge request, snippet or commit under its name. */
export function notedJson({ facts, on }: NotedInProject, externalUrl: string): Json {
  switch (on.kind) {
    case 'issue':
      return { issue: issueAttributes(on.issue, externalUrl) }
    case 'merge_request': {
      const [assignee] = on.mergeRequest.assignees
      const attributes = mergeRequestAttributes({ facts, ...on }, externalUrl)
      return { merge_request: { ...attributes, assignee: assignee ? userJson(assignee, externalUrl) : null } }
    }
    case 'snippet':
      return { snippet: snippetJson(on.snippet, externalUrl) }
    case 'commit':
      return { commit: { id: on.sha } }
  }
}

const snippetJson = (snippet: Extract<NoteFacts['on'], { kind: 'snippet' }>['snippet'], externalUrl: string): Json => ({
  id: snippet.id,
  title: snippet.title,
  description: snippet.description ?? null,
  content: '',
  author_id: snippet.authorId ?? null,
  project_id: snippet.projectId ?? null,
  created_at: hookTime(snippet.createdAtMs),
  updated_at: hookTime(snippet.updatedAtMs),
  file_name: snippet.files[0] ?? '',
  type: 'ProjectSnippet',
  visibility_level: visibilities.indexOf(snippet.visibility) * 10,
  url: `${externalUrl}/${snippetWebPath(snippet)}`,
})
