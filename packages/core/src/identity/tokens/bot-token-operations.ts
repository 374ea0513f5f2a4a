import { z } from 'zod'
import { levelIn } from '../../base/access/membership.ts'
import type { Subject } from '../../base/access/subject.ts'
import { DomainError, forbidden, notFound } from '../../base/kit/domain-error.ts'
import { pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { problem } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { Actor, User } from '../../base/model/user.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { command, query } from '../../base/operations/operation.ts'
import { getGroup } from '../groups/group-store.ts'
import { insertMember } from '../members/member-store.ts'
import { getProject } from '../projects/project-store.ts'
import { insertUser } from '../users/user-store.ts'
import {
  type AccessToken,
  type IssuedAccessToken,
  scopesFrom,
  type TokenFilter,
  tokenDescription,
  tokenExpiry,
  tokenFilters,
  tokenName,
} from './access-token.ts'
import { deleteUnneededMembership, findAccessToken, pageOfAccessTokens } from './access-token-store.ts'
import { issueToken, revoke, rotate } from './issue-token.ts'
import { getPresentedToken } from './personal-token-operations.ts'
import { botScopes } from './scope.ts'

const { guest, planner, reporter, developer, maintainer, owner } = accessLevels
const botLevels: readonly number[] = [guest, planner, reporter, developer, maintainer, owner]

const ofProject = {
  subject: (context: ReadContext, { project }: { project: number | string }) => getProject(context, project),
  permission: 'admin_access_tokens',
} as const
const ofGroup = {
  subject: (context: ReadContext, { group }: { group: number | string }) => getGroup(context, group),
  permission: 'admin_group_access_tokens',
} as const
const project = z.object({ project: namespaceRef })
const group = z.object({ group: namespaceRef })

const listed = { ...tokenFilters, ...pageInput }
const one = { tokenId: z.int() }
const rotated = { expiresAt: tokenExpiry }
const draft = {
  name: tokenName,
  description: tokenDescription,
  scopes: scopesFrom(botScopes),
  expiresAt: tokenExpiry,
  accessLevel: z
    .int()
    .nullish()
    .superRefine((level, context) => {
      if (typeof level === 'number' && !botLevels.includes(level)) context.addIssue(problem('unknown_value'))
    })
    .transform((level) => (level ?? maintainer) as AccessLevel),
}
const draftSchema = z.object(draft)
type Draft = z.output<typeof draftSchema>

export const listProjectTokens = query(
  { name: 'listProjectTokens', input: project.extend(listed), ...ofProject },
  (context, { project: _, ...input }) => list(context, input),
)
export const listGroupTokens = query(
  { name: 'listGroupTokens', input: group.extend(listed), ...ofGroup },
  (context, { group: _, ...input }) => list(context, input),
)

export const getProjectToken = query(
  { name: 'getProjectToken', input: project.extend(one), ...ofProject },
  (context, { tokenId }) => getToken(context, tokenId),
)
export const getGroupToken = query(
  { name: 'getGroupToken', input: group.extend(one), ...ofGroup },
  (context, { tokenId }) => getToken(context, tokenId),
)

export const createProjectToken = command(
  { name: 'createProjectToken', input: project.extend(draft), ...ofProject },
  (tx, { project: _, ...input }) => create(tx, input),
)
export const createGroupToken = command(
  { name: 'createGroupToken', input: group.extend(draft), ...ofGroup },
  (tx, { group: _, ...input }) => create(tx, input),
)

export const revokeProjectToken = command(
  { name: 'revokeProjectToken', input: project.extend(one), ...ofProject },
  (tx, { tokenId }) => remove(tx, tokenId),
)
export const revokeGroupToken = command(
  { name: 'revokeGroupToken', input: group.extend(one), ...ofGroup },
  (tx, { tokenId }) => remove(tx, tokenId),
)

export const rotateProjectToken = command(
  { name: 'rotateProjectToken', input: project.extend({ ...one, ...rotated }), ...ofProject },
  (tx, { tokenId, expiresAt }) => rotateOther(tx, tokenId, expiresAt),
)
export const rotateGroupToken = command(
  { name: 'rotateGroupToken', input: group.extend({ ...one, ...rotated }), ...ofGroup },
  (tx, { tokenId, expiresAt }) => rotateOther(tx, tokenId, expiresAt),
)

/** Rotates the token of the request. Its bot needs no particular role. */
export const rotateOwnProjectToken = command(
  { name: 'rotateOwnProjectToken', input: project.extend(rotated), ...ofProject, permission: 'read_project' },
  (tx, { expiresAt }) => rotatePresented(tx, expiresAt),
)
export const rotateOwnGroupToken = command(
  { name: 'rotateOwnGroupToken', input: group.extend(rotated), ...ofGroup, permission: 'read_group' },
  (tx, { expiresAt }) => rotatePresented(tx, expiresAt),
)

type WithSubject<Context> = Context & { readonly actor: Actor; readonly subject: Subject }

function list(
  context: WithSubject<ReadContext>,
  { page, perPage, ...filter }: TokenFilter & { page: number; perPage: number },
) {
  return pageOfAccessTokens(context, parentIds(context.subject), filter, { page, perPage })
}

async function getToken(context: WithSubject<ReadContext>, id: number): Promise<AccessToken> {
  const token = await findAccessToken(context, id)
  if (token === undefined || !belongsTo(context.subject, token)) throw notFound()
  return token
}

const belongsTo = ({ kind, id }: Subject, token: AccessToken) =>
  (kind === 'project' ? token.projectId : token.groupId) === id

async function create(
  tx: WithSubject<Tx> & { readonly core: Core },
  { accessLevel, expiresAt, ...fields }: Draft,
): Promise<IssuedAccessToken> {
  const { subject } = tx
  // A bot that could create bots would keep access after its own token expires.
  if (tx.actor!.botHome !== undefined) throw forbidden()
  await requireLevel(tx, accessLevel)
  const bot = await insertBot(tx, fields.name)
  await insertMember(tx, subject, { userId: bot.id, level: accessLevel, createdById: tx.actor!.id })
  return issueToken(tx, {
    ...fields,
    ...parentIds(subject),
    kind: subject.kind,
    userId: bot.id,
    level: accessLevel,
    expiresAt,
  })
}

/** Inserts a bot named `project_5_bot_` and 32 hex digits. It has no password and gets no e-mail. */
function insertBot({ core, subject, ...tx }: WithSubject<Tx> & { readonly core: Core }, name: string): Promise<User> {
  const username = `${subject.kind}_${subject.id}_bot_${Buffer.from(core.randomBytes(16)).toString('hex')}`
  const host = new URL(core.settings.externalUrl).hostname
  const botHome = { projectId: undefined, groupId: undefined, ...parentIds(subject) }
  return insertUser(tx, { username, name, email: `${username}@noreply.${host}`, botHome })
}

/** Rejects creating or rotating a token with a higher role than the actor's own. */
async function requireLevel(context: WithSubject<ReadContext>, level: AccessLevel): Promise<void> {
  const { id, isAdministrator } = context.actor!
  if (isAdministrator || (await levelIn(context, id, context.subject)) >= level) return
  throw new DomainError({ code: 'refused', message: 'Access level of the token is higher than your own' })
}

async function remove(tx: WithSubject<Tx>, tokenId: number): Promise<void> {
  const token = await getToken(tx, tokenId)
  await revoke(tx, token)
  await deleteUnneededMembership(tx, token)
}

async function rotateOther(
  tx: WithSubject<Tx> & { readonly core: Core },
  tokenId: number,
  expiresAt: string | null | undefined,
) {
  const token = await getToken(tx, tokenId)
  await requireLevel(tx, token.level ?? owner)
  return rotate(tx, token, expiresAt)
}

async function rotatePresented(tx: WithSubject<Tx> & { readonly core: Core }, expiresAt: string | null | undefined) {
  const token = await getPresentedToken(tx)
  if (!belongsTo(tx.subject, token)) throw notFound()
  return rotate(tx, token, expiresAt)
}
