import { apiPath, memberText } from '../api/answers.ts'
import type { HookApi } from '../api/hook-api.ts'
import { isObject, type JsonObject } from '../body/fields.ts'
import { repositoryPath } from './rest-runs.ts'

const ownerPath: HookApi['ownerPath'] = ({ kind, name }) =>
  kind === 'project' ? repositoryPath(name) : `/orgs${apiPath(name)}`

/** The parts that the APIs of GitHub, Gitea and Forgejo share. */
export const actionsHookApi = {
  ownerPath,
  hooksPath: (owner) => `${ownerPath(owner)}/hooks`,
  hookUrl: (hook) => memberText(hook, 'config', 'url'),
  updateMethod: 'PATCH',
  mayInstall: ({ permissions }) => {
    const admin = isObject(permissions) ? permissions.admin : undefined
    return typeof admin === 'boolean' ? admin : undefined
  },
  projects: (group) => ({ path: `/orgs${apiPath(group)}/repos`, query: {} }),
  projectName: (project) => memberText(project, 'full_name'),
} as const satisfies Partial<HookApi>

/** Returns the bodies of requests for a webhook of JSON. */
export const hookBodies = (
  type: JsonObject,
  events: readonly string[],
  config: JsonObject = {},
): Pick<HookApi, 'create' | 'update'> => {
  const update: HookApi['update'] = ({ url, secret }) => ({
    active: true,
    events,
    config: { ...config, url, content_type: 'json', secret },
  })
  return { update, create: (wanted) => ({ ...type, ...update(wanted) }) }
}
