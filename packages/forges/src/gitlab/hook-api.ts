import { apiPath, memberText } from '../api/answers.ts'
import type { HookApi, WantedHook } from '../api/hook-api.ts'
import { isObject, type JsonObject } from '../body/fields.ts'

/** The access level of maintainers, who may install webhooks. */
const MAINTAINER = 40

const hookBody = ({ url, secret }: WantedHook): JsonObject => ({
  url,
  token: secret,
  pipeline_events: true,
  job_events: true,
  push_events: false,
  enable_ssl_verification: true,
})

export const hookApi: HookApi = {
  ownerPath: ({ kind, name }) => `/${kind}s${apiPath(name)}`,
  hooksPath: ({ kind, name }) => `/${kind}s${apiPath(name)}/hooks`,
  pageSize: { per_page: 100 },
  hookUrl: (hook) => memberText(hook, 'url'),
  create: hookBody,
  update: hookBody,
  updateMethod: 'PUT',
  scopesPath: '/personal_access_tokens/self',
  readScopes: ({ body }) => (isObject(body) && Array.isArray(body.scopes) ? body.scopes.map(String) : undefined),
  sufficientScopes: { project: ['api'], group: ['api'] },
  mayInstall: ({ permissions }) => {
    if (!isObject(permissions)) return undefined
    const levels = Object.values(permissions).flatMap((each) => (isObject(each) ? [Number(each.access_level)] : []))
    return levels.length === 0 ? undefined : Math.max(...levels) >= MAINTAINER
  },
  projects: (group) => ({ path: `/groups${apiPath(group)}/projects`, query: { include_subgroups: 'true' } }),
  projectName: (project) => memberText(project, 'path_with_namespace'),
}
