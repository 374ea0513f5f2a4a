import { apiPath, askList, type HookApi, type HookOwner, isObject, memberText, type WantedHook } from '@penstock/forges'
import type { ForgeClient } from '../backfill/forge-client.ts'
import { ForgeError } from '../backfill/forge-error.ts'

/** The maximum number of webhooks, or of projects of a group. */
const MAX_ITEMS = 20_000

/**
 * Checks that a token may install webhooks.
 *
 * @throws {ForgeError} that names the missing scopes or rights
 */
export async function checkToken(forge: ForgeClient, api: HookApi, owner: HookOwner): Promise<void> {
  const path = api.ownerPath(owner)
  const answer = await forge.demand({ path })
  const scopes = api.readScopes(
    (api.scopesPath === undefined ? undefined : await forge.ask({ path: api.scopesPath })) ?? answer!,
  )
  const sufficient = api.sufficientScopes[owner.kind]
  if (scopes !== undefined && !sufficient.some((scope) => scopes.includes(scope))) {
    const given = scopes.filter((scope) => scope !== '').join(', ') || 'none'
    throw new ForgeError(`the access token lacks the scope ${sufficient.join(' or ')}; its scopes: ${given}`)
  }
  if (isObject(answer?.body) && api.mayInstall(answer.body) === false) {
    throw new ForgeError(
      `the access token may not install webhooks of ${owner.name}: its user must administer the ${owner.kind}`,
    )
  }
}

/** Installs the webhook, or updates the one that has the same URL. */
export async function installHook(
  forge: ForgeClient,
  api: HookApi,
  owner: HookOwner,
  wanted: WantedHook,
): Promise<'installed' | 'updated'> {
  const path = api.hooksPath(owner)
  try {
    const hooks = await askList(forge.demand, { path, query: api.pageSize }, MAX_ITEMS)
    const own = hooks?.find((hook) => api.hookUrl(hook) === wanted.url)
    const id = own && memberText(own, 'id')
    if (id === undefined) await forge.change('POST', path, api.create(wanted), wanted.secret)
    else await forge.change(api.updateMethod, `${path}${apiPath(id)}`, api.update(wanted), wanted.secret)
    return id === undefined ? 'installed' : 'updated'
  } catch (error) {
    if (!(error instanceof ForgeError) || (error.status !== 403 && error.status !== 404)) throw error
    const scopes = api.sufficientScopes[owner.kind].join(' or ')
    throw new ForgeError(
      `${path}: HTTP ${error.status}: the access token may not install webhooks of ${owner.name}; it needs ${scopes}, and a user who administers the ${owner.kind}`,
      error.status,
    )
  }
}

/** Returns the names of a group's projects. */
export async function listProjects(forge: ForgeClient, api: HookApi, group: string): Promise<readonly string[]> {
  const { path, query } = api.projects(group)
  const projects = await askList(forge.demand, { path, query: { ...query, ...api.pageSize } }, MAX_ITEMS)
  return (projects ?? []).flatMap((project) => api.projectName(project) ?? [])
}
