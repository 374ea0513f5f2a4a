export { requestUrl } from './api/address.ts'
export { apiPath, askList, memberText } from './api/answers.ts'
export type { HookApi, HookOwner, WantedHook } from './api/hook-api.ts'
export type {
  AnnouncedRun,
  ApiAnswer,
  ApiMemory,
  ApiRequest,
  Ask,
  ForgeApi,
  ListedRun,
  RateLimitHeaders,
  RunAnswer,
  RunPage,
  RunQuery,
  RunReference,
} from './api/rest-api.ts'
export { parseDate } from './body/date.ts'
export { isObject, type JsonObject } from './body/fields.ts'
export { parseLossless } from './body/lossless-json.ts'
export { toId } from './body/shape.ts'
export { capturedBody } from './forge/foreign-bodies.ts'
export type { Forge } from './forge/forge.ts'
export { type SignatureForm, validateHmac } from './forge/hmac-signature.ts'
export type { CredentialRefusal, Credentials, HookHeaders, HookRules } from './forge/hook-rules.ts'

export { rootVariable } from './forge/job-variables.ts'
export { type ForgeName, forgeNames, forges } from './forges.ts'
export { attemptsListedBy, type JobEnrichment, mergedJobEvents, withJobEvents } from './gitlab/job-events.ts'
export { type Downstream, Lineage, listDownstream } from './gitlab/lineage.ts'
export { type GroupedJobs, groupRestJobs, isRestJob, pipelineKey, type RestJob } from './gitlab/rest-jobs.ts'
export { type JobLog, JobLogReader } from './job-log/job-log.ts'
export { withJobLogs } from './job-log/with-job-logs.ts'
export { recordSchema } from './penstock/record-members.ts'
export { type Input, type Intake, readInput, readPayload, readPipelineHook } from './read-input.ts'
export * from './record/index.ts'
