import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely'
import { can, canSee, type Standing } from '../../base/access/can.ts'
import type { Permission } from '../../base/access/permission-table.ts'
import { allowedInProject, asSeenBy, hasLevelInProject } from '../../base/access/visible-store.ts'
import { always } from '../../base/kit/conditions.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { ActingUser, Actor } from '../../base/model/user.ts'
import type { Snippet } from './snippet.ts'

/** The facts about a caller that decide what they may do with a snippet. */
export interface SnippetViewer {
  readonly actor: Actor
  /** The standing on the snippet's project; `undefined` for a personal snippet. */
  readonly standing: Standing | undefined
}

/** The fields of a snippet that decide who may read and change it. */
type GuardedSnippet = Pick<Snippet, 'visibility' | 'authorId' | 'author'>

/** Returns the actor for personal snippets. Bots and jobs have rights only in their projects, so they are treated as anonymous. */
const personalActor = (actor: Actor): Actor =>
  actor?.botHome === undefined && actor?.jobProjectId === undefined ? actor : undefined

/** Returns whether the caller may know that the snippet exists. */
export function canReadSnippet({ actor, standing }: SnippetViewer, snippet: GuardedSnippet): boolean {
  if (standing !== undefined && !(canSee(standing) && can(standing, 'read_snippet'))) return false
  const user = effectiveActor(actor, standing)
  if (user?.isAdministrator) return true
  if (snippet.author?.state === 'banned') return false
  if (user !== undefined && isAuthor(user, snippet)) return true
  if (standing !== undefined && standing.level >= accessLevels.guest) return true
  return (
    snippet.visibility === 'public' ||
    (snippet.visibility === 'internal' && user !== undefined && user.isExternal !== true)
  )
}

/** Returns whether the caller may change a snippet that they can read. */
export const canUpdateSnippet = (viewer: SnippetViewer, snippet: GuardedSnippet): boolean =>
  canChange(viewer, snippet, 'update_own_snippet')

/** Returns whether the caller may remove a snippet that they can read. */
export const canRemoveSnippet = (viewer: SnippetViewer, snippet: GuardedSnippet): boolean =>
  canChange(viewer, snippet, 'remove_own_snippet')

/** Returns whether the caller may create personal snippets. */
export function canCreatePersonalSnippet(actor: Actor): actor is ActingUser {
  const user = personalActor(actor)
  return user !== undefined && user.isExternal !== true
}

function canChange({ actor, standing }: SnippetViewer, snippet: GuardedSnippet, own: Permission): boolean {
  const user = effectiveActor(actor, standing)
  if (user === undefined) return false
  if (standing === undefined) return user.isAdministrator || isAuthor(user, snippet)
  return can(standing, 'admin_snippet') || (isAuthor(user, snippet) && can(standing, own))
}

const isAuthor = ({ id }: ActingUser, { authorId }: GuardedSnippet): boolean => authorId === id

/** Returns the actor to check for rights on a snippet; `undefined` for an anonymous one. */
const effectiveActor = (actor: Actor, standing: Standing | undefined): Actor => {
  if (standing === undefined) return personalActor(actor)
  return standing.isSignedIn ? actor : undefined
}

type Condition = Expression<SqlBool>
type AtInstant = Pick<ReadContext, 'nowMs'>

const eb = expressionBuilder<CoreTables, 'snippets' | 'projects'>()

/**
 * The rules of `canReadSnippet` as a condition on rows of `snippets`, joined with `projects`.
 *
 * @param within `project` if the query selects only snippets of projects on which the caller has `read_snippet`, `personal`
 *   if it selects only personal ones, else `any`
 */
export function isReadableSnippet(context: AtInstant, actor: Actor, within: 'project' | 'personal' | 'any'): Condition {
  const personal = () => readableBy(personalActor(actor), () => [])
  const ofProject = () =>
    asSeenBy(actor, (viewer) => readableBy(viewer, (user) => [hasLevelInProject(context, user.id, accessLevels.guest)]))
  if (within === 'personal') return personal()
  if (within === 'project') return ofProject()
  return eb.or([
    eb.and([eb('snippets.project_id', 'is', null), personal()]),
    eb.and([eb('snippets.project_id', 'is not', null), allowedInProject(context, actor, 'read_snippet'), ofProject()]),
  ])
}

/** @param asMember returns the conditions under which a user reads private snippets of others */
function readableBy(viewer: Actor, asMember: (user: ActingUser) => readonly Condition[]): Condition {
  if (viewer?.isAdministrator) return always
  const open =
    viewer === undefined || viewer.isExternal ? ['public' as const] : ['public' as const, 'internal' as const]
  const byVisibility = eb('snippets.visibility', 'in', open)
  const reasons = viewer === undefined ? [] : [eb('snippets.author_id', '=', viewer.id), ...asMember(viewer)]
  return eb.and([eb.or([byVisibility, ...reasons]), isNotOfBanned()])
}

const isNotOfBanned = (): Condition =>
  eb.not(
    eb.exists(
      eb
        .selectFrom('users')
        .select(sql<number>`1`.as('one'))
        .whereRef('users.id', '=', 'snippets.author_id')
        // A literal, so that the index of banned users applies.
        .where('users.state', '=', sql.lit('banned' as const)),
    ),
  )
