/** What a delivery of the exporter's queue is about, as its key says it. */
export interface ExportKey {
  /** `project:<id>` of the core, `source:<name>` of a source outside of it. */
  readonly scope: string
  readonly instance: string
  readonly pipelineId: string
  /** 1, and more for exports of later completions. */
  readonly round: number
  readonly signal: string
}

const form = /^(\S+) (.*) (\d+)(?: #(\d+))? (traces|metrics|logs)$/s

/** `<scope> <instance> <pipeline id>[ #<round>] <signal>`; `undefined` of a text that is not of that form. */
export function parseExportKey(key: string): ExportKey | undefined {
  const [, scope, instance, pipelineId, round = '1', signal] = form.exec(key) ?? []
  if (scope === undefined) return undefined
  return { scope, instance: instance!, pipelineId: pipelineId!, round: Number(round), signal: signal! }
}

/** Of a scope `project:<id>`. */
export function projectIdOf(scope: string): number | undefined {
  const id = /^project:(\d+)$/.exec(scope)?.[1]
  return id === undefined ? undefined : Number(id)
}
