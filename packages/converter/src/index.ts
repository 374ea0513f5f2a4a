export { type CheckedRecord, checkRecord, type Gap, type GapPart, type Inapplicable } from './check/check-record.ts'
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
export { recordInstance, upstreamInstance } from './run.ts'
export * from './sdk-views.ts'
export type { Tally } from './text.ts'
export {
  type JobTraceContext,
  type JobTraceContextRequest,
  jobTraceContext,
  maxAttributeLength,
} from './trace-context/job-trace-context.ts'
export { type ResourceAttributeList, resourceAttributeList } from './trace-context/resource-attribute-list.ts'
export { hasTime } from './traces/span-times.ts'
export { PRODUCT_VERSION } from './version.ts'
