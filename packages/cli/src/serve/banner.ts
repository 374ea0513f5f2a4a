export interface Started {
  readonly managementUrl: string
  /** host:port of the OTLP listeners. */
  readonly gatewayUrls: readonly string[]
  readonly embedded: boolean
  /** Value of the first Admin API key, when it has just been made. */
  readonly firstKey: string | undefined
  /** What became of the samples. */
  readonly samples: string | undefined
  readonly core: StartedCore | undefined
}

export interface StartedCore {
  readonly url: string
  /** Value of the first administrator's token, when it has just been made. */
  readonly rootToken: string | undefined
}

/** What is said of the core, and what to try with it. */
export function coreLines({ url, rootToken }: StartedCore): { facts: string[]; tries: string[] } {
  return {
    facts: [
      `The REST API is on ${url}/api/v4, described at ${url}/api/v4/openapi.json.`,
      ...(rootToken === undefined ? [] : ['', `Token of the administrator root, shown only now:  ${rootToken}`]),
    ],
    tries: [
      ...(rootToken === undefined ? [] : [`  export PRIVATE_TOKEN=${rootToken}`]),
      `  curl -H "PRIVATE-TOKEN: $PRIVATE_TOKEN" ${url}/api/v4/user`,
    ],
  }
}

/** What a start prints: where everything is, the one secret that is shown once, and what to try. */
export function banner({ managementUrl, gatewayUrls, embedded, firstKey, samples, core }: Started): string {
  const lines = [
    `Penstock takes OTLP on ${gatewayUrls.join(' and ')} (HTTP and gRPC on either).`,
    `Its API, metrics and health are on ${managementUrl}.`,
  ]
  if (embedded) lines.push('No upstream is set: telemetry goes to the embedded store, which is for trying things out.')
  const ofCore = core && coreLines(core)
  if (ofCore !== undefined) lines.push(...ofCore.facts)
  if (samples !== undefined) lines.push(samples)
  if (firstKey !== undefined) lines.push('', `Admin API key, shown only now:  ${firstKey}`)
  lines.push(
    '',
    'Try next:',
    ...(firstKey === undefined ? [] : [`  export OBS_API_KEY=${firstKey}`]),
    `  curl -H "OBS-API-KEY: $OBS_API_KEY" ${managementUrl}/api/v1/ingest_auth/state`,
    `  curl -H "OBS-API-KEY: $OBS_API_KEY" -d '{"name":"first"}' -H 'Content-Type: application/json' ${managementUrl}/api/v1/ingest_auth/tokens`,
  )
  if (embedded) lines.push(`  curl -H "OBS-API-KEY: $OBS_API_KEY" ${managementUrl}/api/v1/observe/services`)
  if (ofCore !== undefined) lines.push(...ofCore.tries)
  if (firstKey === undefined) lines.push('', 'No API key at hand? npx penstock api-key create --name me --role Admin')
  return `${[...lines, ''].join('\n')}\n`
}
