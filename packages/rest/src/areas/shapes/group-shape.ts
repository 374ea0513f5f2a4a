import {
  avatarPath,
  creationLevelFields,
  type Group,
  type GroupDetails,
  groupFeatureFields,
  groupSettings,
  visibilities,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { jsonShape, type Member, type Members, member, membersOf } from '../../routing/json-shape.ts'
import type { Shape } from '../../routing/route.ts'
import { avatarUrl } from './avatar-url.ts'
import { projectShape } from './project-shape.ts'

const of = (schema: z.ZodType, value: Member<Group>['of']) => member<Group>(schema, value)
const nothing = of(z.null(), () => null)

/** Converts JSON members of one part of a group, such as its settings, to JSON members of the group itself. */
const inner = <Key extends 'features' | 'settings' | 'creation'>(
  key: Key,
  members: Readonly<Record<string, Member<Group[Key]>>>,
): Members<Group> =>
  Object.fromEntries(
    Object.entries(members).map(([name, each]) => [
      name,
      of(each.schema, (group, context) => each.of(group[key], context)),
    ]),
  )

const groupMembers: Members<Group> = {
  id: of(z.int(), ({ id }) => id),
  webUrl: of(z.string(), ({ fullPath }, { externalUrl }) => `${externalUrl}/groups/${fullPath}`),
  name: of(z.string(), ({ name }) => name),
  path: of(z.string(), ({ path }) => path),
  description: of(z.string(), ({ description }) => description),
  visibility: of(z.enum(visibilities), ({ visibility }) => visibility),
  requestAccessEnabled: of(z.boolean(), ({ requestAccessEnabled }) => requestAccessEnabled),
  avatarUrl: of(z.string().nullable(), (group, context) => avatarUrl(avatarPath('group', group), context)),
  fullName: of(z.string(), ({ fullName }) => fullName),
  fullPath: of(z.string(), ({ fullPath }) => fullPath),
  createdAt: of(z.string(), ({ createdAtMs }) => isoTime(createdAtMs)),
  parentId: of(z.int().nullable(), ({ parentId }) => parentId ?? null),
  defaultBranch: of(z.string().nullable(), ({ defaultBranch }) => defaultBranch ?? null),
  ...inner('creation', membersOf(creationLevelFields)),
  ...inner('features', membersOf(groupFeatureFields)),
  ...inner('settings', membersOf(groupSettings)),
  emailsDisabled: of(z.boolean(), ({ settings }) => !settings.emailsEnabled),
  requireTwoFactorAuthentication: of(z.literal(false), () => false),
  archived: of(z.literal(false), () => false),
  markedForDeletionOn: nothing,
  repositoryStorage: of(z.literal('default'), () => 'default'),
  organizationId: of(z.literal(1), () => 1),
  ipRestrictionRanges: nothing,
  allowedEmailDomainsList: nothing,
  ldapCn: nothing,
  ldapAccess: nothing,
  sharedWithGroups: of(z.array(z.unknown()), () => []),
}

export const groupShape: Shape<Group> = jsonShape('Group', groupMembers)

const detailMembers = Object.fromEntries(
  Object.entries(groupMembers).map(([name, { schema, of: value }]) => [
    name,
    member<GroupDetails>(schema, ({ group }, context) => value(group, context)),
  ]),
)

/** A group as a single resource, with the projects directly in it. Projects cannot be shared with groups. */
export const groupDetailsShape: Shape<GroupDetails> = jsonShape<GroupDetails>('GroupDetails', {
  ...detailMembers,
  projects: member<GroupDetails>(z.array(projectShape.schema).optional(), ({ projects }, context) =>
    projects?.map((view) => projectShape.of(view, context)),
  ),
  sharedProjects: member<GroupDetails>(z.array(projectShape.schema).optional(), ({ projects }) => projects && []),
})
