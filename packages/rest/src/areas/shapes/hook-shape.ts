import {
  alertStatuses,
  hookFields,
  hookSwitchNames,
  INTERNAL_ERROR,
  type ShownHook,
  type StoredHookCall,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { jsonShape, type Member, member, membersOf, pick } from '../../routing/json-shape.ts'

const plain = membersOf(hookFields)
const of = (schema: z.ZodType, value: Member<ShownHook>['of']) => member<ShownHook>(schema, value)
const flag = z.boolean()
const keys = z.array(z.object({ key: z.string() }))
const asKeys = (names: readonly string[]) => names.map((key) => ({ key }))

/** A webhook without its secrets. */
export const hookShape = jsonShape<ShownHook>('ProjectHook', {
  ...pick(plain, 'id', 'url', 'name', 'description', 'createdAt', 'pushEvents', 'tagPushEvents', 'mergeRequestsEvents'),
  ...pick(plain, 'repositoryUpdateEvents', 'enableSslVerification'),
  alertStatus: of(z.enum(alertStatuses), ({ alertStatus }) => alertStatus),
  disabledUntil: plain.disabledUntil,
  urlVariables: of(keys, ({ urlVariableKeys }) => asKeys(urlVariableKeys)),
  ...pick(plain, 'pushEventsBranchFilter', 'branchFilterStrategy', 'customWebhookTemplate'),
  customHeaders: of(keys, ({ customHeaderKeys }) => asKeys(customHeaderKeys)),
  projectId: plain.projectId,
  // The first four have their place above.
  ...pick(plain, ...hookSwitchNames),
  vulnerabilityEvents: plain.vulnerabilityEvents,
  tokenPresent: of(flag, ({ hasToken }) => hasToken),
  signingTokenPresent: of(flag, ({ hasSigningToken }) => hasSigningToken),
  // The feature does not exist here, so that it is never on.
  aiFlowCallbackEnabled: of(flag, () => false),
})

const texts = z.record(z.string(), z.string())
const call = (schema: z.ZodType, value: Member<StoredHookCall>['of']) => member<StoredHookCall>(schema, value)

/** An entry of a webhook's event log. */
export const hookEventShape = jsonShape<StoredHookCall>('ProjectHookEvent', {
  id: call(z.int(), ({ id }) => id),
  url: call(z.string(), ({ url }) => url),
  trigger: call(z.string(), ({ trigger }) => trigger),
  requestHeaders: call(texts, ({ requestHeaders }) => requestHeaders),
  requestData: call(z.unknown(), ({ requestData }) => JSON.parse(requestData) as unknown),
  responseHeaders: call(texts, ({ responseHeaders }) => responseHeaders),
  responseBody: call(z.string(), ({ responseBody }) => responseBody),
  executionDuration: call(z.number(), ({ durationMs }) => durationMs / 1_000),
  responseStatus: call(z.string(), ({ status }) => (status === undefined ? INTERNAL_ERROR : String(status))),
  createdAt: call(z.iso.datetime(), ({ createdAtMs }) => isoTime(createdAtMs)),
})
