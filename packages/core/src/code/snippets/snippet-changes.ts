import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { requirePermission, standingOf } from '../../base/access/subject.ts'
import { nextRepositoryId } from '../../base/git/repository-key.ts'
import { removeRepositories } from '../../base/git/sweep-repositories.ts'
import { DomainError, forbidden, notFound } from '../../base/kit/domain-error.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { CallContext, OperationContext, Tx } from '../../base/operations/context.ts'
import type { StepsContext } from '../../base/operations/operation.ts'
import { comparedFields, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { type captchaInput, requireNoSpam } from '../../base/spam/spam-check.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { requireCommitter } from '../repositories/commit-operations.ts'
import {
  type DescribedSnippet,
  describedSnippetFields,
  type Snippet,
  type SnippetDraft,
  snippetDraft,
} from './snippet.ts'
import {
  canCreatePersonalSnippet,
  canReadSnippet,
  canRemoveSnippet,
  canUpdateSnippet,
  type SnippetViewer,
} from './snippet-access.ts'
import { commitActionsOf, type SnippetAction } from './snippet-actions.ts'
import { commitToSnippet, readSnippetFiles } from './snippet-repository.ts'
import { releaseSnippetStorage, type SnippetOwner } from './snippet-storage.ts'
import { deleteSnippet, findSnippet, insertSnippet, updateSnippetRow } from './snippet-store.ts'
import { insertUserAgent } from './user-agent-store.ts'

type Reads = ReadContext & OperationContext

/** The part of each stored file that is checked for spam when a snippet becomes public. */
const MAX_CHECKED_BYTES = 1024 * 1024

/** A snippet with what decides on the caller's rights. */
interface ViewedSnippet {
  readonly snippet: DescribedSnippet
  readonly viewer: SnippetViewer
}

/**
 * Returns a snippet of the project, or any snippet.
 *
 * @param what the noun in the error. Missing: the error names no noun
 * @throws DomainError `not_found`, also if the caller may not read the snippet
 */
export async function viewSnippet(
  context: Reads,
  id: number,
  { project, what }: { readonly project?: Project | undefined; readonly what?: 'Snippet' } = {},
): Promise<ViewedSnippet> {
  const snippet = await findSnippet(context, id, project)
  if (snippet === undefined) throw notFound(what)
  const owner = project ?? (snippet.projectId === undefined ? undefined : await getProject(context, snippet.projectId))
  const standing = owner && (await standingOf(context, context.actor, owner))
  const viewer = { actor: context.actor, standing }
  if (!canReadSnippet(viewer, snippet)) throw notFound(what)
  return { snippet, viewer }
}

/** @throws DomainError `not_found`, or `forbidden` */
async function snippetToUpdate(context: Reads, id: number, project?: Project): Promise<DescribedSnippet> {
  const { snippet, viewer } = await viewSnippet(context, id, { project, what: 'Snippet' })
  if (!canUpdateSnippet(viewer, snippet)) throw forbidden()
  return snippet
}

type Captcha = z.output<typeof captchaInput>

interface NewSnippet {
  /** Missing for a personal snippet. */
  readonly project?: Project
  readonly title: string
  readonly description?: string | null | undefined
  /** Default: that of the instance. */
  readonly visibility?: Snippet['visibility'] | undefined
  readonly actions: readonly SnippetAction[]
  readonly captcha?: Captcha
}

/** Creates a snippet with its repository. Without a project, the caller needs the right to create personal ones. */
export async function createSnippetWith(
  context: StepsContext,
  { project, actions, captcha, ...input }: NewSnippet,
): Promise<DescribedSnippet> {
  const { core, actor } = context
  if (project === undefined && !canCreatePersonalSnippet(actor)) throw forbidden()
  const visibility = input.visibility ?? (await settingOf(core, 'default_snippet_visibility'))
  const draft = newObject(snippetDraft, { ...input, visibility })
  validate(snippetDraft, draft)
  await requireUnrestricted(context, visibility)
  const commitActions = commitActionsOf(actions, [], 'creating', ['create'])
  const committer = await requireCommitter(context)
  await requireNoSpamIn(context, draft, actions, captcha)
  const id = await nextRepositoryId(core, 'snippet')
  const owner = project === undefined ? { userId: committer.id } : { projectId: project.id }
  const commit = { id, owner, committer, actions: commitActions, change: 'creating' } as const
  return commitToSnippet(context, commit, async (tx, files) => {
    // The project, or the permission, may have gone in between.
    const owner = project && (await getProject(tx, project.id))
    if (owner !== undefined) await requirePermission(tx, owner, 'create_snippet')
    const snippet = await insertSnippet(tx, { id, project: owner, authorId: committer.id, draft, files })
    await insertUserAgent(tx, id)
    await recordSnippet(tx, 'created', { after: snippet })
    return snippet
  })
}

interface SnippetUpdate {
  readonly title?: string | null | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Snippet['visibility'] | null | undefined
  /** Returns the changes of files. */
  readonly actionsFor: (files: readonly string[]) => readonly SnippetAction[]
  readonly captcha?: Captcha
}

/** Changes a snippet and its files, in one commit. Nothing changes if a part of it fails. */
export async function updateSnippetWith(
  context: StepsContext & CallContext,
  id: number,
  { actionsFor, captcha, ...input }: SnippetUpdate,
  project?: Project,
): Promise<DescribedSnippet> {
  const before = await snippetToUpdate(context, id, project)
  const draft = withInput(snippetDraft, before, input)
  validate(snippetDraft, draft)
  if (draft.visibility !== before.visibility) await requireUnrestricted(context, draft.visibility)
  const actions = actionsFor(before.files)
  const commitActions = commitActionsOf(actions, before.files, 'updating')
  const isChanged = commitActions.length > 0 || !isDeepStrictEqual(draft, before)
  if (!isChanged) return before
  // Only members have seen the files of a snippet that becomes public, so all of them are checked.
  const becomesPublic = draft.visibility === 'public' && before.visibility !== 'public'
  const known = becomesPublic ? await textsOf(context, before) : []
  await requireNoSpamIn(context, draft, [...known, ...actions], captcha)
  const storeRow = async (tx: OperationContext & Tx, files: readonly string[] | undefined) => {
    // Read again, because others may have changed the snippet in between.
    const now = await snippetToUpdate(tx, id, project)
    const next = withInput(snippetDraft, now, input)
    const after = await updateSnippetRow(tx, now, next, files ?? now.files)
    await recordSnippet(tx, 'updated', { before: now, after })
    return after
  }
  if (commitActions.length === 0) return context.write((tx) => storeRow(tx, undefined))
  const committer = await requireCommitter(context)
  const commit = { id, owner: ownerOf(before), committer, actions: commitActions, change: 'updating' } as const
  return commitToSnippet(context, commit, storeRow)
}

/** Removes a snippet with its repository. @throws DomainError `not_found`, `forbidden`, `changed_since` */
export async function removeSnippetWith(tx: Tx & CallContext, id: number, project?: Project): Promise<void> {
  const { snippet, viewer } = await viewSnippet(tx, id, { project, what: 'Snippet' })
  if (!canRemoveSnippet(viewer, snippet)) throw forbidden()
  tx.requireUnmodified(snippet.updatedAtMs)
  await releaseSnippetStorage(tx, id, ownerOf(snippet))
  await deleteSnippet(tx, id)
  await removeRepositories(tx, [{ kind: 'snippet', id }])
  await recordSnippet(tx, 'removed', { before: snippet })
}

/** Returns the beginnings of the files of a snippet, if there is a check that reads them. */
async function textsOf({ core }: OperationContext, { id }: Snippet): Promise<SnippetAction[]> {
  const found = core.spamCheck === undefined ? 'no_repository' : await readSnippetFiles(core, id)
  if (typeof found === 'string') return []
  const texts: SnippetAction[] = []
  for (const { path, sha } of found.files) {
    const bytes = (await found.git.blob(sha)).subarray(0, MAX_CHECKED_BYTES)
    texts.push({ action: 'update', filePath: path, content: Buffer.from(bytes).toString() })
  }
  return texts
}

/** Returns the project or user to which the bytes of a snippet are counted. */
const ownerOf = ({ projectId, authorId }: Snippet): SnippetOwner =>
  projectId === undefined ? { userId: authorId! } : { projectId }

/** Checks texts that everyone will be able to read. */
async function requireNoSpamIn(
  context: StepsContext,
  { title, description, visibility }: SnippetDraft,
  actions: readonly SnippetAction[],
  captcha: Captcha,
): Promise<void> {
  if (visibility !== 'public') return
  const files = actions.flatMap(({ filePath, content }) => (content ? [{ path: filePath ?? '', content }] : []))
  await requireNoSpam(context, { kind: 'snippet', title, description, files, isPublic: true }, captcha)
}

/** @throws DomainError `refused` for a visibility that only administrators may give */
async function requireUnrestricted(
  { core, actor }: OperationContext,
  visibility: Snippet['visibility'],
): Promise<void> {
  if (actor?.isAdministrator) return
  if (!(await settingOf(core, 'restricted_visibility_levels')).includes(visibility)) return
  const message = `Visibility level ${visibility} has been restricted by your administrator`
  throw new DomainError({ code: 'refused', message, needsAdministrator: true })
}

type Change =
  | { readonly before: DescribedSnippet; readonly after?: DescribedSnippet }
  | { readonly before?: undefined; readonly after: DescribedSnippet }

function recordSnippet(tx: Tx, what: string, change: Change): Promise<void> {
  const { projectId } = (change.after ?? change.before)!
  return recordChange(tx, snippetEvents, what, { ...change, ...(projectId !== undefined && { projectId }) })
}

const snippetEvents: RecordedKind<DescribedSnippet> = {
  noun: 'snippet',
  compared: comparedFields(describedSnippetFields),
  detailsOf: ({ title }) => ({ title }),
}
