export interface JsonSpan {
  readonly name: string
  readonly spanId: string
  readonly traceId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[]
}

/** Returns the spans of all lines with traces. */
export function spansOf(stdout: string): JsonSpan[] {
  const lines = stdout
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('{"resourceSpans"'))
  return lines.flatMap((line) => JSON.parse(line).resourceSpans[0].scopeSpans[0].spans)
}

export const attributeOf = (span: JsonSpan, key: string): string | undefined => {
  const value = span.attributes.find((attribute) => attribute.key === key)?.value
  return value && Object.values(value)[0]
}

/** Returns the pipeline ids of all pipeline spans, in order. */
export const pipelineIdsIn = (stdout: string): string[] =>
  spansOf(stdout).flatMap((span) => attributeOf(span, 'pipeline.id') ?? [])
