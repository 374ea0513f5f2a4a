import { EXPLORER_PATH, GRAPHQL_PATH } from '@penstock/graphql'
import type { StartedSamples } from '../samples/sample-workspace.ts'

export interface Started {
  readonly managementUrl: string
  /** host:port of the OTLP listeners. */
  readonly gatewayUrls: readonly string[]
  readonly embedded: boolean
  /** Value of the first Admin API key, when it has just been made. */
  readonly firstKey: string | undefined
  readonly samples: StartedSamples | undefined
  readonly core: StartedCore | undefined
}

export interface StartedCore {
  readonly url: string
  /** Value of the first administrator's token, when it has just been made. */
  readonly rootToken: string | undefined
  /** URLs that webhooks of each source outside go to. */
  readonly hooks: readonly string[]
}

/** More of them are said by number. */
const MAX_HOOKS = 10

/** What is said of the core, and what to try with it. */
export function coreLines({ url, rootToken, hooks }: StartedCore): { facts: string[]; tries: string[] } {
  return {
    facts: [
      `The REST API is on ${url}/api/v4, described at ${url}/api/v4/openapi.json.`,
      `GraphQL is on ${url}${GRAPHQL_PATH}; ${url}${EXPLORER_PATH} in a browser shows its schema and runs queries.`,
      ...hooks.slice(0, MAX_HOOKS).map((hook) => `Webhooks of a source go to ${hook}`),
      ...(hooks.length > MAX_HOOKS ? [`… and of ${hooks.length - MAX_HOOKS} further sources.`] : []),
      ...(rootToken === undefined ? [] : ['', `Token of the administrator root, shown only now:  ${rootToken}`]),
    ],
    tries: [
      ...(rootToken === undefined ? [] : [`  export PRIVATE_TOKEN=${rootToken}`]),
      apiFunction(url),
      '  api user',
    ],
  }
}

/** What a start prints: where everything is, the one secret that is shown once, and what to try. */
export function banner(started: Started): string {
  const { managementUrl, gatewayUrls, embedded, firstKey, samples, core } = started
  const lines = [
    `Penstock takes OTLP on ${gatewayUrls.join(' and ')} (HTTP and gRPC on either).`,
    `Its API, metrics and health are on ${managementUrl}.`,
  ]
  if (embedded) lines.push('No upstream is set: telemetry goes to the embedded store, which is for trying things out.')
  if (core !== undefined) lines.push(...coreLines(core).facts)
  if (firstKey !== undefined) lines.push('', `Admin API key, shown only now:  ${firstKey}`)
  if (samples !== undefined) lines.push('', samples.sentence)
  const tries = samples?.project === undefined ? ownTries(started) : sampleTries(started, samples.project)
  lines.push('', 'Try next:', ...(firstKey === undefined ? [] : [`  export OBS_API_KEY=${firstKey}`]), ...tries)
  if (firstKey === undefined) lines.push('', 'No API key at hand? npx penstock api-key create --name me --role Admin')
  return `${[...lines, ''].join('\n')}\n`
}

/** Functions of bash as in the README: curl reads the secret from a file descriptor, so it is in no list of processes. */
const obsFunction = `  obs() { curl -sS -K <(printf 'header = "OBS-API-KEY: %s"' "$OBS_API_KEY") "$@"; }`
const apiFunction = (url: string): string =>
  `  api() { curl -sS -K <(printf 'header = "PRIVATE-TOKEN: %s"' "$PRIVATE_TOKEN") "${url}/api/v4/$@"; }`
const JSON_BODY = "-H 'Content-Type: application/json'"

function ownTries({ managementUrl, embedded, core }: Started): string[] {
  return [
    obsFunction,
    `  obs ${managementUrl}/api/v1/ingest_auth/state`,
    `  obs -d '{"name":"first"}' ${JSON_BODY} ${managementUrl}/api/v1/ingest_auth/tokens`,
    ...(embedded ? [`  obs ${managementUrl}/api/v1/observe/services`] : []),
    ...(core === undefined ? [] : coreLines(core).tries),
  ]
}

/** Lists the pipelines of a project and what arrived of them, and enforces tokens; the samples go on, as they have one. */
function sampleTries({ managementUrl, core }: Started, project: string): string[] {
  return [
    ...(core!.rootToken === undefined ? [] : [`  export PRIVATE_TOKEN=${core!.rootToken}`]),
    obsFunction,
    apiFunction(core!.url),
    `  api projects/${encodeURIComponent(project)}/pipelines`,
    `  obs ${managementUrl}/api/v1/observe/services`,
    `  obs -X PUT -d '{"enabled":true}' ${JSON_BODY} ${managementUrl}/api/v1/ingest_auth/state`,
  ]
}
