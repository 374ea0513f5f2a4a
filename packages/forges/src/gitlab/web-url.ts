import { type Fields, text } from '../body/fields.ts'
import type { RunId } from '../record/run-id.ts'

const credentials = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i

/** Reads a URL, without surrounding blanks and without the user and password that a clone URL may contain. */
export function url(fields: Fields, key: string): string | undefined {
  const given = text(fields, key)?.trim()
  return given?.includes('@') ? given.replace(credentials, '$1') : given
}

/** Returns a project's URL without trailing `/` and `.git`; `undefined` if nothing else is left. */
export function projectUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const bare = withoutSlashes(given)
  const address = bare.endsWith('.git') ? withoutSlashes(bare.slice(0, -'.git'.length)) : bare
  return address === '' ? undefined : address
}

/**
 * Returns the URL of a project, read from the URL of its pipeline. Versions before 12 write `/pipelines/` instead of
 * `/-/pipelines/`.
 */
export function projectUrlIn(pipelineUrl: string | undefined): string | undefined {
  if (pipelineUrl === undefined) return undefined
  const marked = pipelineUrl.lastIndexOf('/-/pipelines/')
  const end = marked >= 0 ? marked : pipelineUrl.search(/\/pipelines\/\d{1,19}\/?$/)
  return end > 0 ? projectUrl(pipelineUrl.slice(0, end)) : undefined
}

/** Returns the path of a project with its namespace, read from its URL; `undefined` if it has no namespace there. */
export function projectPathIn(projectWebUrl: string | undefined): string | undefined {
  if (projectWebUrl === undefined || !URL.canParse(projectWebUrl)) return undefined
  const path = new URL(projectWebUrl).pathname.slice(1)
  return path.includes('/') ? path : undefined
}

export function pipelineUrl(projectWebUrl: string | undefined, pipelineId: RunId): string | undefined {
  return projectWebUrl === undefined ? undefined : `${projectWebUrl}/-/pipelines/${pipelineId}`
}

export function jobUrl(projectWebUrl: string | undefined, jobId: RunId): string | undefined {
  return projectWebUrl === undefined ? undefined : `${projectWebUrl}/-/jobs/${jobId}`
}

function withoutSlashes(address: string): string {
  let end = address.length
  while (end > 0 && address.charAt(end - 1) === '/') end--
  return address.slice(0, end)
}
