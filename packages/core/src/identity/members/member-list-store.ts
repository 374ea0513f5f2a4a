import { type Selectable, sql } from 'kysely'
import { z } from 'zod'
import {
  isGivenAbove,
  isGivenIn,
  isInForce,
  type MemberCondition,
  type MembersTable,
} from '../../base/access/membership.ts'
import type { Subject } from '../../base/access/subject.ts'
import { allowedInGroup, allowedInProject } from '../../base/access/visible-store.ts'
import { isOneOf, never } from '../../base/kit/conditions.ts'
import { containsText } from '../../base/kit/contains-text.ts'
import { type Listing, listingOf } from '../../base/kit/listing.ts'
import type { KeysetColumn } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Actor } from '../../base/model/user.ts'
import { type User, userKinds } from '../../base/model/user.ts'
import { lineageOf } from '../groups/group-store.ts'
import type { Member } from './member.ts'
import { highestMemberships, membersOfRows } from './member-store.ts'

/** The ways to be a member. `shared` matches nothing, because groups cannot be invited. */
const memberRelations = ['direct', 'inherited', 'below', 'shared'] as const
type MemberRelation = (typeof memberRelations)[number]

export const membersOfEachInput = z.object({
  /** The ids of memberships. */
  ids: z.array(z.int()).max(100).optional(),
  /** The codes of roles; unknown codes match nothing. */
  accessLevels: z.array(z.int()).max(20).optional(),
  relations: z.array(z.enum(memberRelations)).max(memberRelations.length).default(['direct', 'inherited']),
  search: z.string().max(255).optional(),
  userKinds: z.array(z.enum(userKinds)).optional(),
  orderBy: z.enum(['id', 'access_level', 'name', 'created_at', 'updated_at']).default('id'),
  sort: z.enum(['asc', 'desc']).default('desc'),
})
type MembersOfEach = z.output<typeof membersOfEachInput>

/**
 * Returns the members of each subject. The time of the last change is not stored, so `updated_at` is the time of creation.
 */
export function memberListing(
  context: ReadContext,
  actor: Actor,
  subjects: readonly Subject[],
  { orderBy, sort: direction, ...filter }: MembersOfEach,
): Listing<Member> {
  const id: KeysetColumn<MemberRow> = { column: 'members.id', key: 'id', direction }
  const own = orderBy === 'id' ? [] : [{ ...orderColumns[orderBy], direction }]
  return listingOf(
    context,
    subjects.map((subject) => wantedMembers(context, actor, subject, filter)),
    { order: [...own, id], itemsOf: (rows: readonly MemberRow[]) => membersOfRows(context, rows) },
  )
}

type Row = Selectable<MembersTable>
type MemberRow = Row & { readonly user_name: string }

const created = { column: 'members.created_at_ms', key: 'created_at_ms' } as const
const orderColumns = {
  access_level: { column: 'members.access_level', key: 'access_level' },
  name: { column: 'users.name', key: 'user_name' },
  created_at: created,
  updated_at: created,
} as const

function wantedMembers(
  context: ReadContext,
  actor: Actor,
  subject: Subject,
  { relations, ids, accessLevels: levels, search, userKinds: kinds }: Omit<MembersOfEach, 'orderBy' | 'sort'>,
) {
  const matchesRelation: MemberCondition = (eb) =>
    eb.or([...new Set(relations)].map((relation) => conditionOf[relation](context, actor, subject)(eb)))
  let query = highestMemberships(context, matchesRelation)
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.name as user_name')
  if (ids !== undefined) query = query.where(isOneOf(sql.ref('members.id'), ids))
  if (levels !== undefined) query = query.where(isOneOf(sql.ref('members.access_level'), levels))
  if (search) query = query.where(containsText(context, ['users.name', 'users.username'], search))
  if (kinds !== undefined) {
    query = query.where(
      isOneOf(
        sql.ref('users.is_bot'),
        kinds.map((kind) => (kind === 'project_bot' ? 1 : 0)),
      ),
    )
  }
  return query
}

const conditionOf: Readonly<
  Record<MemberRelation, (context: ReadContext, actor: Actor, subject: Subject) => MemberCondition>
> = {
  direct: (_context, _actor, subject) => isGivenIn(subject, 'direct'),
  inherited: (_context, _actor, subject) => isGivenAbove(subject),
  /** Selects members of the groups below, except groups in which the actor may not see members. */
  below: (context, actor, subject) => (eb) =>
    subject.kind === 'project'
      ? never
      : eb(
          'members.group_id',
          'in',
          eb
            .selectFrom('groups')
            .select('groups.id')
            .where('groups.lineage', 'like', `${lineageOf(subject.groupIds)}_%`)
            .where(allowedInGroup(context, actor, 'read_members')),
        ),
  shared: () => () => never,
}

/**
 * Returns the memberships of each user, either in groups or in projects, the latest first. Groups and projects in which
 * the actor may not see members are left out.
 */
export function membershipListing(
  context: ReadContext,
  actor: Actor,
  users: readonly User[],
  where: 'groups' | 'projects',
): Listing<Member> {
  const ofUser = ({ id }: User) =>
    context.db.selectFrom('members').selectAll('members').where('members.user_id', '=', id).where(isInForce(context))
  const inGroups = (user: User) =>
    ofUser(user)
      .innerJoin('groups', 'groups.id', 'members.group_id')
      .where(allowedInGroup(context, actor, 'read_members'))
  const inProjects = (user: User) =>
    ofUser(user)
      .innerJoin('projects', 'projects.id', 'members.project_id')
      .where('members.access_level', '>', accessLevels.minimal)
      .where(allowedInProject(context, actor, 'read_members'))
  const order: readonly KeysetColumn<Row>[] = [{ column: 'members.id', key: 'id', direction: 'desc' }]
  const itemsOf = (rows: readonly Row[]) => membersOfRows(context, rows)
  return where === 'groups'
    ? listingOf(context, users.map(inGroups), { order, itemsOf })
    : listingOf(context, users.map(inProjects), { order, itemsOf })
}
