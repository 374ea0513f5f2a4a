import { inForce, stored, typed, untyped } from './setting.ts'
import { anyOf, atLeast, decimal, isOneOf, line, visibility, whole } from './setting-fields.ts'

/** The codes of a key restriction: any size, forbidden, or the least size in bits. */
const keySizes = (...sizes: readonly number[]) => anyOf(0, [0, -1, ...sizes])
const KEYS = 'Keys of this type. 0: any size, -1: forbidden, else the least size in bits.'

/** The languages of GitLab's user interface. */
const languages =
  'bg cs_CZ da_DK de en eo es fil_PH fr gl_ES id_ID it ja ka_GE ko nb_NO nl_NL pl_PL pt_BR pt_PT ro_RO ru si_LK sv_SE tr_TR uk zh_CN zh_HK zh_TW'.split(
    ' ',
  )

/** Settings with a few allowed values, and numbers with a fraction. */
export const choiceSettings = {
  default_branch_protection: typed(
    anyOf(2, [0, 1, 2, 3, 4]),
    inForce(
      'Deprecated: the protection of default branches. 0: none; 1: Developers may push and merge, but not overwrite; 2: Maintainers only; 3: Developers may merge; 4: as 2, but Developers may push the first commit.',
      'commits and merges into the default branch of projects of users; the value of new groups, which decides for their projects',
    ),
  ),
  rsa_key_restriction: typed(keySizes(1_024, 2_048, 3_072, 4_096), stored(KEYS)),
  dsa_key_restriction: typed(keySizes(1_024, 2_048, 3_072), stored(KEYS)),
  ecdsa_key_restriction: typed(keySizes(256, 384, 521), stored(KEYS)),
  ed25519_key_restriction: typed(keySizes(256), stored(KEYS)),
  ecdsa_sk_key_restriction: typed(keySizes(256), stored(KEYS)),
  ed25519_sk_key_restriction: typed(keySizes(256), stored(KEYS)),
  first_day_of_week: untyped(whole(0).check(isOneOf([0, 1, 6])), stored('0: Sunday, 1: Monday, 6: Saturday.')),
  polling_interval_multiplier: typed(
    decimal(1).check(atLeast(0)),
    stored('Multiplies the intervals in which clients poll. 0: they do not poll.'),
  ),
  external_authorization_service_timeout: untyped(
    decimal(0.5),
    stored('Seconds for the answer of the external authorization service.', {
      allowed: 'above 0 and at most 10 while the service is enabled',
    }),
  ),
  email_confirmation_setting: untyped(
    line(255, 'off').check(isOneOf(['off', 'soft', 'hard'])),
    stored('Whether new users confirm their address, and whether they may sign in before.'),
  ),
  default_preferred_language: untyped(line(255, 'en').check(isOneOf(languages)), stored('The language of new users.')),
  default_snippet_visibility: typed(visibility(), inForce('The visibility of new snippets.', 'creating snippets')),
  default_project_visibility: typed(
    visibility(),
    inForce('The visibility of new projects.', 'creating projects', {
      allowed: 'not one of `restricted_visibility_levels`',
    }),
  ),
  default_group_visibility: typed(
    visibility(),
    inForce('The visibility of new groups.', 'creating groups', {
      allowed: 'not one of `restricted_visibility_levels`',
    }),
  ),
}
