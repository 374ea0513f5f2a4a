import { z } from 'zod'
import { DomainError, forbidden, invalid, notFound } from '../../base/kit/domain-error.ts'
import { clearable } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { defaultSettings } from '../../base/kit/stored-settings.ts'
import type { User, UserProfile, UserState } from '../../base/model/user.ts'
import { userSettings } from '../../base/model/user-settings.ts'
import type { Tx } from '../../base/operations/context.ts'
import { unscopedCommand, unscopedQuery, unscopedSteps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { settingsOf } from '../../base/settings/setting-of.ts'
import { isSoleOwnerOfTopGroup } from '../members/member-store.ts'
import { PATH_TAKEN, validatePath } from '../paths/path-validation.ts'
import { moveRoutes } from '../paths/route-store.ts'
import { deleteProjectsOf, renameProjectsBelow } from '../projects/project-store.ts'
import { hashPassword, savePasswordHash } from '../users/password-store.ts'
import { removePersonalSnippets } from '../users/personal-snippets.ts'
import { withShownNames } from '../users/shown-names.ts'
import { attributeChanges, userAttributes, withStoredAvatar } from '../users/user-attributes.ts'
import { userEvents } from '../users/user-events.ts'
import { validateEmail, validatePassword } from '../users/user-input.ts'
import { profileOf } from '../users/user-profile.ts'
import {
  deleteUserRow,
  findUserByEmail,
  getUser,
  insertUser,
  type UserChanges,
  updateUserRow,
} from '../users/user-store.ts'
import { isKnownTo } from './known-users.ts'
import { signOutEverywhere } from './sign-out-everywhere.ts'

const text = z.string().min(1).max(255)

export const getCurrentUser = unscopedQuery(
  { name: 'getCurrentUser', input: z.object({}) },
  async (context): Promise<UserProfile> => profileOf(await getUser(context, context.actor!.id), context.actor),
)

export const getUserProfile = unscopedQuery(
  { name: 'getUserProfile', input: z.object({ user: z.int() }) },
  async (context, { user: id }) => {
    const user = await getUser(context, id)
    if (!(await isKnownTo(context, context.actor, user))) throw notFound('User')
    const [shown] = await withShownNames(context, context.actor, [user])
    return profileOf(shown!, context.actor)
  },
)

/**
 * Creates a user. A user created without a password (`resetPassword`, `forceRandomPassword`) cannot sign in with one until
 * it is set.
 */
export const createUser = unscopedSteps(
  {
    name: 'createUser',
    caller: 'administrator',
    input: z
      .object({
        email: z.string().min(1),
        username: text,
        name: text,
        password: z.string().min(1).optional(),
        resetPassword: z.boolean().optional(),
        forceRandomPassword: z.boolean().optional(),
        admin: z.boolean().optional(),
        publicEmail: clearable(z.string()),
        ...userAttributes,
      })
      .superRefine(({ password, resetPassword, forceRandomPassword }, context) => {
        if (password === undefined && !resetPassword && !forceRandomPassword)
          context.addIssue(problem('at_least_one', { names: ['password', 'resetPassword', 'forceRandomPassword'] }))
      }, acrossParameters),
  },
  async ({ core, write }, { email, username, name, password, admin, publicEmail, ...input }): Promise<UserProfile> => {
    const attributes = attributeChanges({ email, settings: defaultSettings(userSettings), isExternal: false }, input)
    validateUserFields({ email, publicEmail, password })
    const passwordHash = password === undefined ? undefined : await hashPassword(core, password)
    return write(async (tx) => {
      await requireFreeEmail(tx, email)
      await requireFreeUsername(tx, username)
      const created = await insertUser(tx, { username, name, email, isAdministrator: admin === true })
      const settings = await settingsOf(core)
      const user = await updateUserRow(tx, created.id, {
        canCreateGroup: settings.can_create_group,
        projectsLimit: settings.default_projects_limit,
        ...(await withStoredAvatar(tx, created.id, attributes)),
        ...(publicEmail && { publicEmail: publicEmail.toLowerCase() }),
      })
      if (passwordHash !== undefined) await savePasswordHash(tx, user.id, passwordHash)
      await recordChange(tx, userEvents, 'created', { after: user })
      return profileOf(user, tx.actor)
    })
  },
)

export const updateUser = unscopedSteps(
  {
    name: 'updateUser',
    caller: 'administrator',
    input: z.object({
      user: z.int(),
      email: z.string().min(1).optional(),
      username: text.optional(),
      name: text.optional(),
      password: z.string().min(1).optional(),
      admin: z.boolean().optional(),
      publicEmail: clearable(z.string()),
      ...userAttributes,
    }),
  },
  async ({ core, write, ...context }, { user: id, password, ...input }): Promise<UserProfile> => {
    await getUser(context, id)
    validateUserFields({ ...input, password })
    const passwordHash = password === undefined ? undefined : await hashPassword(core, password)
    return write(async (tx) => {
      const before = await getUser(tx, id)
      const { email, username, admin } = input
      if (before.isBot && admin) throw invalid({ admin: ['cannot be set for a bot'] })
      if (before.isBot && passwordHash !== undefined) throw invalid({ password: ['cannot be set for a bot'] })
      if (email !== undefined) await requireFreeEmail(tx, email, id)
      if (username !== undefined && username !== before.username) await moveNamespace(tx, before, username)
      // An instance without an administrator could not appoint one.
      if (admin === false && id === tx.actor?.id) throw forbidden()
      const attributes = attributeChanges({ ...before, ...(email !== undefined && { email }) }, input)
      const user = await updateUserRow(tx, id, {
        ...(await withStoredAvatar(tx, id, attributes)),
        ...changesOf(input),
      })
      if (passwordHash !== undefined) {
        await savePasswordHash(tx, id, passwordHash)
        // Someone who knew the former password may be signed in with it.
        await signOutEverywhere(tx, id)
      }
      await recordChange(tx, userEvents, 'updated', { before, after: user })
      return profileOf(user, tx.actor)
    })
  },
)

/**
 * Removes a user, the projects in their namespace and their personal snippets. Rejected if a group would lose its only owner, unless `hardDelete`.
 */
export const removeUser = unscopedCommand(
  {
    name: 'removeUser',
    caller: 'administrator',
    input: z.object({ user: z.int(), hardDelete: z.boolean().default(false) }),
    isConditional: true,
  },
  async (tx, { user: id, hardDelete }): Promise<void> => {
    const user = await getUser(tx, id)
    if (id === tx.actor?.id) throw forbidden()
    if (!hardDelete && (await isSoleOwnerOfTopGroup(tx, id)))
      throw new DomainError({
        code: 'conflict',
        reason: 'User cannot be removed while being the sole owner of a group',
      })
    tx.requireUnmodified(user.updatedAtMs)
    for (const project of await deleteProjectsOf(tx, { ownerId: id }))
      await tx.recordEvent({ type: 'project.removed', objectId: project.id, details: { path: project.fullPath } })
    await removePersonalSnippets(tx, id)
    await deleteUserRow(tx, id)
    await recordChange(tx, userEvents, 'removed', { before: user, details: { username: user.username } })
  },
)

export const blockUser = stateChange('blockUser', { to: 'blocked', from: ['active', 'deactivated'] })
export const unblockUser = stateChange('unblockUser', { to: 'active', from: ['blocked'] })
export const activateUser = stateChange('activateUser', { to: 'active', from: ['deactivated'] })
export const deactivateUser = stateChange('deactivateUser', { to: 'deactivated', from: ['active'] })

/**
 * Defines a change of state. It succeeds if the user already has the state. It is forbidden if the present state is not
 * in `from`, and for the actor's own user.
 */
function stateChange(name: string, { to, from }: { to: UserState; from: readonly UserState[] }) {
  return unscopedCommand({ name, caller: 'administrator', input: z.object({ user: z.int() }) }, async (tx, input) => {
    const user = await getUser(tx, input.user)
    if (user.state === to) return true as const
    if (!from.includes(user.state)) throw forbidden(`The user is ${user.state}`)
    if (user.id === tx.actor?.id) throw forbidden()
    const after = await updateUserRow(tx, user.id, { state: to })
    if (to !== 'active') await signOutEverywhere(tx, user.id)
    await recordChange(tx, userEvents, 'state_changed', { before: user, after, details: { from: user.state, to } })
    return true as const
  })
}

async function moveNamespace(tx: Tx, { username }: User, to: string): Promise<void> {
  await requireFreeUsername(tx, to, username)
  await moveRoutes(tx.db, username, to)
  await renameProjectsBelow(tx, username, to)
}

async function requireFreeUsername(tx: Tx, username: string, formerly?: string): Promise<void> {
  const wrong = await validatePath(tx, { path: username, ...(formerly !== undefined && { formerly }) })
  if (wrong === PATH_TAKEN) throw new DomainError({ code: 'conflict', reason: 'Username has already been taken' })
  if (wrong !== undefined) throw invalid({ username: [wrong] })
}

function validateUserFields(input: {
  email?: string | undefined
  publicEmail?: string | null | undefined
  password?: string | undefined
}): void {
  const { email, publicEmail, password } = input
  const problems = {
    email: email === undefined ? undefined : validateEmail(email),
    public_email: publicEmail ? validateEmail(publicEmail) : undefined,
    password: password === undefined ? undefined : validatePassword(password),
  }
  const found = Object.entries(problems).flatMap(([field, what]) => (what === undefined ? [] : [[field, [what]]]))
  if (found.length > 0) throw invalid(Object.fromEntries(found))
}

/** A confirmed address of the user `ownerId` is free for that user. */
async function requireFreeEmail(tx: Tx, email: string, ownerId?: number): Promise<void> {
  const owner = await findUserByEmail(tx, email)
  if (owner !== undefined && owner.id !== ownerId)
    throw new DomainError({ code: 'conflict', reason: 'Email has already been taken' })
}

function changesOf(input: {
  email?: string | undefined
  username?: string | undefined
  name?: string | undefined
  admin?: boolean | undefined
  publicEmail?: string | null | undefined
}): UserChanges {
  const { email, username, name, admin, publicEmail } = input
  return {
    ...(email !== undefined && { email }),
    ...(username !== undefined && { username }),
    ...(name !== undefined && { name }),
    ...(admin !== undefined && { isAdministrator: admin }),
    ...(publicEmail !== undefined && { publicEmail: publicEmail?.toLowerCase() }),
  }
}
