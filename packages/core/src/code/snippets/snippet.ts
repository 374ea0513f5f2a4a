import { z } from 'zod'
import {
  hasText,
  id,
  int,
  list,
  maxCharacters,
  maxLength,
  type ObjectOf,
  oneOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'

export const snippetVisibilities = ['private', 'internal', 'public'] as const

const MAX_TITLE = 255
const MAX_DESCRIPTION = 1_048_576

/** The fields that a user sets. */
export const snippetDraft = {
  title: text('title').check(hasText, maxCharacters(MAX_TITLE)),
  description: text('description').check(maxLength(MAX_DESCRIPTION)).optional(),
  visibility: oneOf('visibility', snippetVisibilities),
}

const { description, ...listed } = snippetDraft
/** The fields that lists contain: all except the description. */
export const snippetFields = {
  id: id(),
  /** Missing for a personal snippet. */
  projectId: int('project_id').optional(),
  /** Missing if the author has been removed. */
  authorId: int('author_id').optional(),
  ...listed,
  /** The paths of the files in the order of Git. Stored with each commit, so that lists need not read repositories. */
  files: list('files', z.string()),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}
export const describedSnippetFields = { ...snippetFields, description }

export interface SnippetRecord extends ObjectOf<typeof snippetFields> {}
export type SnippetDraft = ObjectOf<typeof snippetDraft>

/** A snippet of a project, or a personal one. */
export interface Snippet extends SnippetRecord {
  /** `undefined` for a personal snippet. */
  readonly project: Project | undefined
  /** `undefined` if the author has been removed. */
  readonly author: User | undefined
}
export interface DescribedSnippet extends Snippet, ObjectOf<typeof describedSnippetFields> {}

/** The fields of a snippet from which its addresses follow. */
interface SnippetPlace extends Pick<Snippet, 'id'> {
  readonly project: Pick<Project, 'fullPath'> | undefined
}

/** Returns the path of the snippet's page, below the external URL. */
export const snippetWebPath = ({ id, project }: SnippetPlace): string =>
  project === undefined ? `-/snippets/${id}` : `${project.fullPath}/-/snippets/${id}`

/** Returns the path of the snippet's repository in clone URLs, without the host. */
export const snippetClonePath = ({ id, project }: SnippetPlace): string =>
  `${project === undefined ? '' : `${project.fullPath}/`}snippets/${id}.git`

/** Returns the path at which a file of the snippet is shown as it is, below the external URL. */
export const snippetFileWebPath = (snippet: SnippetPlace, branch: string, path: string): string =>
  `${snippetWebPath(snippet)}/raw/${branch}/${path.split('/').map(encodeURIComponent).join('/')}`
