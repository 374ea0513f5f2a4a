import { inForce, stored, typed, untyped } from './setting.ts'
import { from, positive } from './setting-fields.ts'

const NO_LIMIT = '0: no limit.'
const rate = (fallback: number) => from(0, fallback)

/** Integer settings that limit how often something is done, per minute unless they say otherwise. */
export const rateSettings = {
  issues_create_limit: typed(
    rate(300),
    inForce(`Issues that a user may create per minute. ${NO_LIMIT}`, '`POST …/issues`, GraphQL `createIssue`'),
  ),
  raw_blob_request_limit: typed(
    rate(300),
    inForce(
      `Requests per minute for the content of one file. ${NO_LIMIT}`,
      '`GET …/files/:path/raw`, `GET …/blobs/:sha/raw`',
    ),
  ),
  raw_blob_request_limit_unauthenticated: typed(
    rate(800),
    inForce(
      `Requests per minute for contents of files of one project without a sign-in. ${NO_LIMIT}`,
      '`GET …/files/:path/raw`, `GET …/blobs/:sha/raw`',
    ),
  ),
  project_jobs_api_rate_limit: typed(
    positive(600),
    inForce('Lists of jobs of a project, per minute and user.', '`GET /projects/:id/jobs`'),
  ),
  projects_api_rate_limit_unauthenticated: untyped(
    rate(400),
    inForce(`Lists of projects per 10 minutes and address without a sign-in. ${NO_LIMIT}`, '`GET /projects`'),
  ),
  runner_jobs_request_api_limit: untyped(rate(2_000), stored(`Requests of a runner for jobs. ${NO_LIMIT}`)),
  runner_jobs_patch_trace_api_limit: untyped(rate(200), stored(`Parts of a log that a runner sends. ${NO_LIMIT}`)),
  runner_jobs_endpoints_api_limit: untyped(rate(200), stored(`Other requests of a runner. ${NO_LIMIT}`)),
  users_api_limit_followers: untyped(rate(100), stored(`Lists of a user's followers. ${NO_LIMIT}`)),
  users_api_limit_following: untyped(rate(100), stored(`Lists of the users that a user follows. ${NO_LIMIT}`)),
  users_api_limit_status: untyped(rate(240), stored(`Requests for a user's status. ${NO_LIMIT}`)),
  users_api_limit_ssh_keys: untyped(rate(120), stored(`Lists of a user's SSH keys. ${NO_LIMIT}`)),
  users_api_limit_ssh_key: untyped(rate(120), stored(`Requests for an SSH key. ${NO_LIMIT}`)),
  users_api_limit_gpg_keys: untyped(rate(120), stored(`Lists of a user's GPG keys. ${NO_LIMIT}`)),
  users_api_limit_gpg_key: untyped(rate(120), stored(`Requests for a GPG key. ${NO_LIMIT}`)),
  web_hook_event_resend_limit: untyped(
    rate(5),
    inForce(
      `Hook events that a user may resend per minute and project. ${NO_LIMIT}`,
      '`POST …/hooks/:id/events/:id/resend`',
    ),
  ),
  web_hook_test_limit: untyped(
    rate(5),
    inForce(`Hook tests per minute, user and project. ${NO_LIMIT}`, '`POST …/hooks/:id/test/:trigger`'),
  ),
  downstream_pipeline_trigger_limit_per_project_user_sha: typed(
    rate(0),
    stored(`Downstream pipelines of a project, user and commit. ${NO_LIMIT}`),
  ),
  pipeline_cancel_limit_per_user_project: typed(
    rate(0),
    stored(`Pipelines that a user cancels in a project. ${NO_LIMIT}`),
  ),
  pipeline_retry_limit_per_user_project: typed(
    rate(0),
    stored(`Pipelines that a user retries in a project. ${NO_LIMIT}`),
  ),
  job_retry_limit_per_user_project: typed(rate(0), stored(`Jobs that a user retries in a project. ${NO_LIMIT}`)),
  job_play_limit_per_user_project: typed(rate(0), stored(`Jobs that a user plays in a project. ${NO_LIMIT}`)),
  pipeline_delete_limit_per_user_project: typed(
    rate(0),
    inForce(
      `Pipelines that a user deletes in a project. ${NO_LIMIT}`,
      '`DELETE …/pipelines/:id`, GraphQL `pipelineDestroy`',
    ),
  ),
  job_erase_limit_per_user_project: untyped(rate(0), stored(`Jobs that a user erases in a project. ${NO_LIMIT}`)),
}
