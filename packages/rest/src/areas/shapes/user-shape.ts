import { type User, type UserProfile, userNamespaceId } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'

const text = z.string()
const profileSchema = z.object({
  bio: text,
  location: text,
  linkedin: text,
  twitter: text,
  discord: text,
  skype: text,
  github: text,
  bluesky: text,
  mastodon: text,
  website_url: text,
  organization: text,
  job_title: text,
  pronouns: text,
  pronunciation: text,
  work_information: text.nullable(),
  local_time: z.null(),
  bot: z.boolean(),
})
/** Not shown to others if the profile is private. */
const activitySchema = z.object({
  created_at: text,
  followers: z.int(),
  following: z.int(),
  is_followed: z.boolean(),
})
/** For administrators and the user itself. */
const privateSchema = z.object({
  email: text,
  commit_email: text,
  is_admin: z.boolean(),
  is_auditor: z.boolean(),
  namespace_id: z.int(),
  last_activity_on: text.nullable(),
  last_sign_in_at: text.nullable(),
  current_sign_in_at: text.nullable(),
  confirmed_at: text,
  theme_id: z.int(),
  color_scheme_id: z.int(),
  view_diffs_file_by_file: z.boolean(),
  external: z.boolean(),
  private_profile: z.boolean(),
  two_factor_enabled: z.boolean(),
  can_create_group: z.boolean(),
  can_create_project: z.boolean(),
  projects_limit: z.int(),
  shared_runners_minutes_limit: z.int().nullable(),
  extra_shared_runners_minutes_limit: z.int().nullable(),
  identities: z.array(z.unknown()),
})
const noteSchema = z.object({ note: text.nullable(), created_by: z.null() })

/** A user. What others see depends on the caller, and on whether the profile is private. */
export const userShape: Shape<UserProfile> = {
  schema: basicUserShape.schema
    .extend(profileSchema.shape)
    .extend(activitySchema.partial().shape)
    .extend(privateSchema.partial().shape)
    .extend(noteSchema.partial().shape)
    .meta({ id: 'User' }),
  of: ({ user, isWhole, isForAdministrator }, context) => ({
    ...basicUserShape.of(user, context),
    ...((isWhole || !user.settings.privateProfile) && activityJson(user)),
    ...profileJson(user),
    ...(isWhole && privateJson(user)),
    ...(isForAdministrator && { note: user.settings.note ?? null, created_by: null }),
  }),
}

const activityJson = ({ createdAtMs }: User) => ({
  created_at: isoTime(createdAtMs),
  followers: 0,
  following: 0,
  is_followed: false,
})

const profileJson = ({ settings, isBot }: User): z.output<typeof profileSchema> => ({
  bio: settings.bio,
  location: settings.location,
  linkedin: settings.linkedin,
  twitter: settings.twitter,
  discord: settings.discord,
  skype: settings.skype,
  github: settings.github,
  bluesky: settings.bluesky,
  mastodon: settings.mastodon,
  website_url: settings.websiteUrl,
  organization: settings.organization,
  job_title: settings.jobTitle,
  pronouns: settings.pronouns,
  pronunciation: settings.pronunciation,
  work_information: workOf(settings),
  local_time: null,
  bot: isBot,
})

function workOf({ jobTitle, organization }: User['settings']): string | null {
  if (jobTitle === '' || organization === '') return jobTitle || organization || null
  return `${jobTitle} at ${organization}`
}

const privateJson = (user: User): z.output<typeof privateSchema> => ({
  email: user.email,
  commit_email: user.email,
  is_admin: user.isAdministrator,
  is_auditor: false,
  namespace_id: userNamespaceId(user.id),
  last_activity_on: user.lastActivityOn ?? null,
  last_sign_in_at: null,
  current_sign_in_at: null,
  confirmed_at: isoTime(user.createdAtMs),
  theme_id: user.settings.themeId,
  color_scheme_id: user.settings.colorSchemeId,
  view_diffs_file_by_file: user.settings.viewDiffsFileByFile,
  external: user.isExternal,
  private_profile: user.settings.privateProfile,
  two_factor_enabled: false,
  can_create_group: user.canCreateGroup,
  can_create_project: user.projectsLimit > 0,
  projects_limit: user.projectsLimit,
  shared_runners_minutes_limit: user.settings.sharedRunnersMinutesLimit ?? null,
  extra_shared_runners_minutes_limit: user.settings.extraSharedRunnersMinutesLimit ?? null,
  identities: [],
})
