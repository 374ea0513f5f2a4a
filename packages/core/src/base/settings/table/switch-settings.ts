import { inForce, stored, typed, untyped } from './setting.ts'
import { off, on } from './setting-fields.ts'

const FORWARDING = 'Whether requests for unknown packages of this ecosystem are forwarded.'

/** The settings that are true or false. */
export const switchSettings = {
  signup_enabled: typed(on(), stored('Whether visitors may register. There is no page for that.')),
  password_authentication_enabled_for_web: typed(
    on(),
    inForce('Whether users can sign in to the web pages with a password.', 'the sign-in page', {
      oldNames: ['password_authentication_enabled', 'signin_enabled'],
    }),
  ),
  user_oauth_applications: untyped(
    on(),
    stored('Whether users may register OAuth applications; only administrators can.'),
  ),
  domain_denylist_enabled: typed(off(), stored('Whether addresses of `domain_denylist` may not register.')),
  avatar_service_enabled: typed(on(), stored('Whether avatars come from the avatar service.')),
  container_expiration_policies_enable_historic_entries: untyped(off(), stored('Cleanup policies of old projects.')),
  container_registry_expiration_policies_caching: untyped(on(), stored('Whether cleanup policies cache tags.')),
  diagram_a_enabled: typed(off(), stored('Diagrams of renderer A.', { companions: ['diagram_a_url'] })),
  diagram_b_enabled: typed(on(), stored('Diagrams of renderer B.', { companions: ['diagram_b_url'] })),
  diagram_c_enabled: typed(off(), stored('Diagrams of renderer C.', { companions: ['diagram_c_url'] })),
  enforce_terms: untyped(off(), stored('Whether users must accept `terms`.')),
  allow_account_deletion: untyped(on(), stored('Whether users may delete their accounts.')),
  updating_name_disabled_for_users: untyped(off(), stored('Whether only administrators change names of users.')),
  allow_local_requests_from_web_hooks_and_services: untyped(
    off(),
    inForce('Whether hooks may send requests to the local network.', 'saving and calling webhooks', {
      oldNames: ['allow_local_requests_from_hooks_and_services'],
    }),
  ),
  allow_local_requests_from_system_hooks: untyped(on(), stored('The same for system hooks.')),
  asset_proxy_enabled: typed(
    off(),
    stored('Whether images load through a proxy.', { companions: ['asset_proxy_url', 'asset_proxy_secret_key'] }),
  ),
  ecosystem_a_package_requests_forwarding: typed(on(), stored(FORWARDING)),
  ecosystem_b_package_requests_forwarding: typed(on(), stored(FORWARDING)),
  ecosystem_c_package_requests_forwarding: typed(on(), stored(FORWARDING)),
  ecosystem_d_package_requests_forwarding: typed(off(), stored(FORWARDING)),
  require_admin_approval_after_user_signup: typed(on(), stored('Whether registrations need an approval.')),
  require_personal_access_token_expiry: typed(
    on(),
    inForce(
      'Whether every new access token expires. Otherwise a token without an expiry date never does.',
      'creating personal, project and group access tokens',
    ),
  ),
  keep_latest_artifact: untyped(
    on(),
    inForce(
      'Whether the latest artifacts of a ref are kept, as clients see it; no artifact is removed here.',
      'GraphQL `ciApplicationSettings`',
    ),
  ),
  admin_mode: typed(
    off(),
    inForce(
      'Whether administrators have administrator rights only with a token that has the scope `admin_mode`.',
      'every request of an administrator',
    ),
  ),
  floc_enabled: typed(off(), stored('Whether pages take part in interest cohorts.')),
  tracker_connect_public_key_storage_enabled: typed(off(), stored('Whether public keys of tracker apps are served.')),
  silent_mode_enabled: untyped(off(), inForce('Whether mail and hooks are suppressed.', 'webhooks')),
  package_registry_allow_anyone_to_pull_option: untyped(on(), stored('Whether projects may open their packages.')),
  silent_admin_exports_enabled: untyped(off(), stored('Whether exports of administrators are silent.')),
  top_level_group_creation_enabled: untyped(
    on(),
    inForce(
      'Whether users, not only administrators, may create top-level groups.',
      '`POST /groups`, GraphQL `groupCreate`',
    ),
  ),
  disable_invite_members: untyped(
    off(),
    inForce('Whether only administrators invite members.', '`POST /groups/:id/members`, `POST /projects/:id/members`'),
  ),
  enforce_pipl_compliance: untyped(on(), stored('Whether accounts in certain regions are restricted.')),
  model_prompt_cache_enabled: untyped(on(), stored('Whether prompts of the assistant are cached.')),
  lock_model_prompt_cache_enabled: untyped(off(), stored('Whether groups cannot change the previous setting.')),
  user_show_add_ssh_key_message: untyped(on(), stored('Whether users without an SSH key see a hint.')),
  external_authorization_service_enabled: untyped(
    off(),
    stored('Whether another service authorizes access to projects.'),
  ),
  can_create_group: untyped(on(), inForce('Whether new users may create top-level groups.', '`POST /users`')),
  user_defaults_to_private_profile: untyped(off(), stored('Whether profiles of new users are private.')),
  dns_rebinding_protection_enabled: untyped(
    on(),
    stored('Whether requests of hooks use the address that was checked.'),
  ),
  deny_all_requests_except_allowed: untyped(
    off(),
    inForce(
      'Whether the service sends requests only to `outbound_local_requests_whitelist`.',
      'saving and calling webhooks, and URLs in these settings',
      {
        allowed: 'true only while no configured URL would be blocked',
      },
    ),
  ),
  ropc_without_client_credentials: untyped(
    on(),
    inForce(
      'Whether a user can exchange a password for an OAuth token without the credentials of an application.',
      '`POST /oauth/token`',
    ),
  ),
}
