import { type Forge, type ForgeApi, type ForgeName, forgeNames, forges } from '@penstock/forges'
import { z } from 'zod'

/** The REST API of a source's forge, and the credential for it. */
export interface SourceApi {
  readonly forgeApi: ForgeApi
  readonly url: URL
  readonly token: string
}

/**
 * The servers of forges with one public service. Other forges need an `apiUrl`: the token is never sent to a server that a hook names,
 * because the holder of a source's secret can write any name into a hook.
 */
const publicServers: Partial<Record<ForgeName, string>> = {
  github: 'https://github.com',
  circleci: 'https://circleci.com',
  buildkite: 'https://buildkite.com',
  bitbucket: 'https://bitbucket.org',
}

export const apiTokenSchema = z
  .string()
  .max(4_096)
  .regex(/^[\x21-\x7e]+$/, 'must be printable characters without blanks')

export const apiUrlSchema = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url
  context.addIssue('must be an http:// or https:// URL without user name, password, ? and #; the token is apiToken')
  return z.NEVER
})

/** Returns the problems of the keys that are about the API. */
export function validateApi({ forge = 'gitlab', apiToken, apiUrl }: Readonly<Record<string, unknown>>): string[] {
  const name = forgeNames.find((each) => each === forge)
  if (name === undefined || (apiToken === undefined && apiUrl === undefined)) return []
  if (apiToken === undefined) return ['apiUrl is used with an apiToken only']
  if (findForgeApi(name) === undefined) return [`no run of ${name} is read from its API; leave out apiToken`]
  const needsUrl = apiUrl === undefined && publicServers[name] === undefined
  return needsUrl ? [`needs the apiUrl of ${name}, to which the apiToken is sent`] : []
}

/** Returns the API; `undefined` without a token, or for keys that `validateApi` refuses. */
export function sourceApi(name: ForgeName, token: string | undefined, url: URL | undefined): SourceApi | undefined {
  const forgeApi = findForgeApi(name)
  const server = url ?? publicServers[name]
  if (forgeApi === undefined || server === undefined || token === undefined) return undefined
  return { forgeApi, url: forgeApi.apiUrl(new URL(server)), token }
}

/** Returns the API of a forge with hooks that name a run without its jobs. */
function findForgeApi(name: ForgeName): ForgeApi | undefined {
  const { api: forgeApi }: Forge = forges[name]
  return name === 'gitlab' || forgeApi?.findRun === undefined ? undefined : forgeApi
}
