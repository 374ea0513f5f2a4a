import type { Signal } from '../../api/answers.ts'

/** Texts to copy into a sender that is to use a new token. */
export interface SenderSettings {
  /** Variables that OpenTelemetry SDKs read. */
  readonly environment: string
  /** An exporter of the OpenTelemetry Collector. It reads the token from a variable, so that the file has no secret. */
  readonly collector: string
  /** A command that sends one item; `undefined` if the token accepts no signal for which there is an example. */
  readonly command: string | undefined
}

/** The service that the example comes from. */
export const EXAMPLE_SERVICE = 'first-test'
const RESOURCE = `"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"${EXAMPLE_SERVICE}"}}]}`
/** The shell replaces this by the current time in nanoseconds. It ends the single quotes for that. */
const NOW = `'"$(date +%s)"'000000000`
const randomHex = (bytes: number): string => `'"$(od -An -tx1 -N${bytes} /dev/urandom | tr -d ' \\n')"'`

/** An item of each signal. A trace comes first, because the console shows when it has arrived. */
const examples: readonly { readonly signal: Signal; readonly body: (traceId: string) => string }[] = [
  {
    signal: 'traces',
    // Each call sends another span of the same trace.
    body: (traceId) =>
      `{"resourceSpans":[{${RESOURCE},"scopeSpans":[{"spans":[{"traceId":"${traceId}","spanId":"${randomHex(8)}","name":"The token works.","kind":1,"startTimeUnixNano":"${NOW}","endTimeUnixNano":"${NOW}"}]}]}]}`,
  },
  {
    signal: 'logs',
    body: () =>
      `{"resourceLogs":[{${RESOURCE},"scopeLogs":[{"logRecords":[{"timeUnixNano":"${NOW}","severityNumber":9,"body":{"stringValue":"The token works."}}]}]}]}`,
  },
  {
    signal: 'metrics',
    body: () =>
      `{"resourceMetrics":[{${RESOURCE},"scopeMetrics":[{"metrics":[{"name":"token.works","gauge":{"dataPoints":[{"timeUnixNano":"${NOW}","asInt":"1"}]}}]}]}]}`,
  },
]

/**
 * @param url the base URL of OTLP/HTTP, without a slash at the end
 * @param traceId the id of the trace that the example sends
 */
export function senderSettings(
  url: string,
  { token, signals }: { readonly token: string; readonly signals: readonly Signal[] },
  traceId: string,
): SenderSettings {
  const example = examples.find(({ signal }) => signals.includes(signal))
  return {
    environment: [
      `export OTEL_EXPORTER_OTLP_ENDPOINT=${quoted(url)}`,
      'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
      // Values are percent-encoded (OpenTelemetry's specification of exporters).
      `export OTEL_EXPORTER_OTLP_HEADERS=${quoted(`Authorization=Bearer%20${encodeURIComponent(token)}`)}`,
    ].join('\n'),
    collector: [
      'exporters:',
      '  otlphttp:',
      `    endpoint: ${url}`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the collector replaces it
      '    headers: { authorization: "Bearer ${env:INGEST_TOKEN}" }',
    ].join('\n'),
    command:
      example &&
      [
        // curl reads the header from a file descriptor, so that the token is in no list of processes.
        `curl -sS -i -K <(printf 'header = "Authorization: Bearer %s"' ${quoted(token)})`,
        "-H 'Content-Type: application/json'",
        `-d '${example.body(traceId)}'`,
        quoted(`${url}/v1/${example.signal}`),
      ].join(' '),
  }
}

/** Returns a text as one word of a shell. */
const quoted = (text: string): string => (/^[\w./:@%=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
