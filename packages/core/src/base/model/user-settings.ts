import { bounded, MAX_INTEGER } from '../kit/common-fields.ts'
import { flag, matches, maxLength, type ObjectOf, text } from '../kit/field-table.ts'

/** A text of the profile. Limited, because lists of users contain it. */
const profile = <Column extends string>(column: Column, max = 255) => text(column).check(maxLength(max)).default('')
/** The note of administrators; no other caller sees it. */
const MAX_NOTE = 2_000

/** The profile and the preferences of a user. Except `privateProfile`, they are only stored and returned. */
export const userSettings = {
  bio: profile('bio'),
  location: profile('location'),
  websiteUrl: profile('website_url').check(matches(/^$|^https?:\/\/\S+$/i, 'is not a valid URL')),
  organization: profile('organization'),
  jobTitle: profile('job_title'),
  pronouns: profile('pronouns', 50),
  pronunciation: profile('pronunciation'),
  linkedin: profile('linkedin', 500),
  twitter: profile('twitter', 500),
  discord: profile('discord', 500),
  github: profile('github', 500),
  skype: profile('skype', 500),
  bluesky: profile('bluesky', 500),
  mastodon: profile('mastodon', 500),
  note: text('note').check(maxLength(MAX_NOTE)).optional(),
  privateProfile: flag('private_profile').default(false),
  themeId: bounded('theme_id', 1, 100).default(1),
  colorSchemeId: bounded('color_scheme_id', 1, 100).default(1),
  viewDiffsFileByFile: flag('view_diffs_file_by_file').default(false),
  sharedRunnersMinutesLimit: bounded('shared_runners_minutes_limit', 0, MAX_INTEGER).optional(),
  extraSharedRunnersMinutesLimit: bounded('extra_shared_runners_minutes_limit', 0, MAX_INTEGER).optional(),
}

export interface UserSettings extends ObjectOf<typeof userSettings> {}
