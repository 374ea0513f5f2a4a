export * from './base/options.ts'
export { cleanText, MAX_NAME_BYTES, MAX_VALUE_BYTES, newTally, type Tally } from './base/text.ts'
export { PRODUCT_VERSION } from './base/version.ts'
export { type CheckedRecord, checkRecord, type Gap, type GapPart, type Inapplicable } from './check/check-record.ts'
export * from './convert.ts'
export {
  type AccumulatorLimits,
  type AccumulatorState,
  accumulate,
  newAccumulator,
  type StreamState,
} from './metrics/accumulate.ts'
export { metricParts } from './metrics/data-points.ts'
export * from './run/export-decision.ts'
export { getInstance, hashedSpanId } from './run/identity.ts'
export { withNamedParts } from './run/named-parts.ts'
export { recordInstance, upstreamInstance } from './run/run.ts'
export { hasTime } from './run/span-times.ts'
export * from './sdk-views.ts'
export {
  type JobTraceContext,
  type JobTraceContextRequest,
  jobTraceContext,
  maxAttributeLength,
} from './trace-context/job-trace-context.ts'
export {
  parseResourceAttributes,
  type ResourceAttributeList,
  resourceAttributeList,
} from './trace-context/resource-attribute-list.ts'
