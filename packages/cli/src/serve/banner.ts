export interface Started {
  readonly managementUrl: string
  /** host:port of the OTLP listeners. */
  readonly gatewayUrls: readonly string[]
  readonly embedded: boolean
  /** Value of the first Admin API key, when it has just been made. */
  readonly firstKey: string | undefined
  /** What became of the samples. */
  readonly samples: string | undefined
}

/** What a start prints: where everything is, the one secret that is shown once, and what to try. */
export function banner({ managementUrl, gatewayUrls, embedded, firstKey, samples }: Started): string {
  const key = firstKey ?? '$OBS_API_KEY'
  const lines = [
    `Penstock takes OTLP on ${gatewayUrls.join(' and ')} (HTTP and gRPC on either).`,
    `Its API, metrics and health are on ${managementUrl}.`,
  ]
  if (embedded) lines.push('No upstream is set: telemetry goes to the embedded store, which is for trying things out.')
  if (samples !== undefined) lines.push(samples)
  if (firstKey !== undefined) lines.push('', `Admin API key, shown only now:  ${firstKey}`)
  lines.push(
    '',
    'Try next:',
    `  curl -H 'OBS-API-KEY: ${key}' ${managementUrl}/api/v1/ingest_auth/state`,
    `  curl -H 'OBS-API-KEY: ${key}' -d '{"name":"first"}' -H 'Content-Type: application/json' ${managementUrl}/api/v1/ingest_auth/tokens`,
  )
  if (embedded) lines.push(`  curl -H 'OBS-API-KEY: ${key}' ${managementUrl}/api/v1/observe/services`)
  return `${[...lines, ''].join('\n')}\n`
}
