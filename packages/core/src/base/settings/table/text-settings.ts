import { isRefName } from '../../git/repository-path.ts'
import { matches } from '../../kit/field-table.ts'
import { networkList } from './network-list.ts'
import { inForce, stored, typed, untyped } from './setting.ts'
import { line, lineOrNull, url, urlOrNull } from './setting-fields.ts'

const MAX_TERMS = 100_000
const NETWORKS = 'addresses and networks, separated by commas'

const ciConfigPath = (path: string) =>
  /^\/|(?:^|\/)\.\.(?:\/|$)/.test(path) && 'cannot include leading slash or directory traversal.'

/** The settings that are texts without a list of allowed values. */
export const textSettings = {
  after_sign_out_path: untyped(
    urlOrNull(),
    inForce('Where browsers go after signing out. Null: the sign-in page.', 'signing out of the pages'),
  ),
  home_page_url: untyped(
    urlOrNull(),
    inForce('The page for visitors without a session. Null: the sign-in page.', '`/` for visitors without a session'),
  ),
  default_branch_name: untyped(
    lineOrNull(255).check((name) => !isRefName(name) && 'is not a valid branch name'),
    inForce(
      'The default branch of new projects, unless the request or the group names one. Null: the first branch that is pushed.',
      '`POST /projects`',
      { allowed: 'the name of a branch' },
    ),
  ),
  default_ci_config_path: typed(
    lineOrNull(255).check(ciConfigPath),
    stored('The CI/CD configuration file of new projects.', { allowed: 'no leading slash, no `..`' }),
  ),
  terms: untyped(lineOrNull(MAX_TERMS), stored('The terms of service, as Markdown.')),
  diagram_a_url: typed(lineOrNull(2_048), stored('The server of renderer A.')),
  diagram_b_url: typed(url('https://embed.diagrams.net'), stored('The server of renderer B.')),
  diagram_c_url: typed(urlOrNull(), stored('The server of renderer C.')),
  asset_proxy_url: typed(urlOrNull(), stored('The proxy for images.')),
  asset_proxy_secret_key: typed(lineOrNull(255), stored('The key of the proxy for images.', { secret: 'never_shown' })),
  personal_access_token_prefix: typed(
    lineOrNull(20).check(
      matches(
        /^[a-zA-Z0-9_+=/@:.-]+$/,
        "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
      ),
    ),
    inForce<string | undefined>(
      'The prefix of new personal, project and group access tokens. Null: none.',
      'creating access tokens',
      {
        allowed: 'letters, digits and `_+=/@:.-`',
        defaultOf: ({ serviceName }) => `${serviceName}pat-`,
      },
    ),
  ),
  rate_limiting_response_text: untyped(
    lineOrNull(255),
    inForce(
      'The body of responses to requests above the rate limit. Null: `Retry later`.',
      'responses with status 429 of the throttle',
    ),
  ),
  external_pipeline_validation_service_token: untyped(
    lineOrNull(255),
    stored('The token for the pipeline validation service.', { secret: 'masked' }),
  ),
  external_pipeline_validation_service_url: untyped(urlOrNull(), stored('The service that validates pipelines.')),
  tracker_connect_application_key: typed(lineOrNull(255), stored('The application id of the tracker app.')),
  tracker_connect_proxy_url: typed(
    urlOrNull(255),
    stored('The instance that the tracker app uses.', { allowed: 'a public URL' }),
  ),
  tracker_connect_additional_audience_url: untyped(
    urlOrNull(255),
    stored('A further audience of requests of the tracker app.', { allowed: 'a public URL' }),
  ),
  security_txt_content: typed(
    lineOrNull(2_048),
    inForce(
      'The content of the file with the security contact; without it there is no file.',
      '`GET /.well-known/security.txt`',
    ),
  ),
  globally_allowed_ips: untyped(
    line(255).check(networkList),
    stored('Addresses that are exempt from the IP restrictions of groups.', { allowed: NETWORKS }),
  ),
  external_authorization_service_url: untyped(urlOrNull(), stored('The external authorization service.')),
  external_authorization_service_default_label: untyped(
    lineOrNull(255),
    stored('The classification of projects without one.', { allowed: 'not null while the service is enabled' }),
  ),
  abuse_notification_email: untyped(
    lineOrNull(254).check(matches(/^[^\s@<>]+@[^\s@<>]+$/)),
    stored('Where reports of abuse go.', { oldParameters: ['admin_notification_email'] }),
  ),
}
