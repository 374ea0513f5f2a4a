export { type CheckedBody, checkBody, type Gap, type GapPart, type Inapplicable } from './check/check-body.ts'
export * from './convert.ts'
export * from './export-decision.ts'
export { instanceOf } from './identity.ts'
export {
  type AccumulatorLimits,
  type AccumulatorState,
  accumulate,
  newAccumulator,
  type StreamState,
} from './metrics/accumulate.ts'
export { metricParts } from './metrics/data-points.ts'
export * from './options.ts'
export * from './record.ts'
export { recordInstance, upstreamInstance } from './run.ts'
export * from './sdk-views.ts'
export { capturedBody } from './sources/body-signatures.ts'
export { parseDate } from './sources/date.ts'
export { type Input, type Intake, readInput } from './sources/input.ts'
export { type JobEnrichment, mergedJobEvents, withJobEvents } from './sources/job-events.ts'
export type { JobEvent } from './sources/job-webhook.ts'
export { parseLossless } from './sources/lossless-json.ts'
export { OtherHookError, RecordError, type TextPosition } from './sources/record-error.ts'
export { type GroupedJobs, groupRestJobs, isRestJob, pipelineKey, type RestJob } from './sources/rest-jobs.ts'
export { type Root, rootKey, rootOf, withRoot } from './sources/roots.ts'
export type { Warning, Warnings } from './sources/warnings.ts'
export type { Tally } from './text.ts'
export {
  type JobTraceContext,
  type JobTraceContextRequest,
  jobTraceContext,
  maxAttributeLength,
  rootVariable,
} from './trace-context/job-trace-context.ts'
export { type ResourceAttributeList, resourceAttributeList } from './trace-context/resource-attribute-list.ts'
export { TraceContextError } from './trace-context/trace-context-error.ts'
export { hasTime } from './traces/span-times.ts'
export { PRODUCT_VERSION } from './version.ts'
