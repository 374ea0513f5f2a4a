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
    ...(firstKey === undefined ? [] : [`  export OBS_API_KEY=${firstKey}`]),
    `  curl -H "OBS-API-KEY: $OBS_API_KEY" ${managementUrl}/api/v1/ingest_auth/state`,
    `  curl -H "OBS-API-KEY: $OBS_API_KEY" -d '{"name":"first"}' -H 'Content-Type: application/json' ${managementUrl}/api/v1/ingest_auth/tokens`,
  )
  if (embedded) lines.push(`  curl -H "OBS-API-KEY: $OBS_API_KEY" ${managementUrl}/api/v1/observe/services`)
  if (firstKey === undefined) lines.push('', 'No API key at hand? npx penstock api-key create --name me --role Admin')
  return `${[...lines, ''].join('\n')}\n`
}
