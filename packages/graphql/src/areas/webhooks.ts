import {
  alertStatuses,
  branchFilterStrategies,
  findCallOfEachHook,
  findHookOfEachProject,
  hookFields,
  INTERNAL_ERROR,
  type ListedHookCall,
  listCallsOfEachHook,
  requestDataOfCalls,
  type ShownHook,
} from '@penstock/core'
import { loadBatched } from '../request/request-context.ts'
import { descriptionField, plainFields } from '../schema/area-fields.ts'
import { connectionField } from '../schema/connection-field.ts'
import { lookup, withCost } from '../schema/cost.ts'
import { valuesOf } from '../schema/enums.ts'
import type { Kit } from '../schema/kit.ts'
import { omitNullish } from '../schema/omit-nullish.ts'
import type { FieldsOf } from '../schema/schema-types.ts'

declare module '../schema/schema-types.ts' {
  interface ObjectSources {
    ProjectHook: ShownHook
    GroupHook: ShownHook
    WebhookEvent: ListedHookCall
  }
}

/** The switches in the schema of the hooks of projects and groups. */
const switches = [
  'pushEvents',
  'tagPushEvents',
  'issuesEvents',
  'confidentialIssuesEvents',
  'mergeRequestsEvents',
  'noteEvents',
  'confidentialNoteEvents',
  'jobEvents',
  'pipelineEvents',
  'wikiPageEvents',
  'deploymentEvents',
  'releasesEvents',
  'milestoneEvents',
  'featureFlagEvents',
  'emojiEvents',
  'resourceAccessTokenEvents',
  'vulnerabilityEvents',
] as const

/** Adds the webhook of a project, for reading. Webhooks are changed through REST only, and groups have none. */
export function addWebhooks(kit: Kit): void {
  const { builder, globalIds } = kit
  addWebhookEvents(kit)
  const hookFieldsOf = hookFieldsIn(kit)

  builder.objectType('ProjectHook', {
    description: 'Webhook of a project, without its secrets',
    fields: (t) => ({
      id: t.field({ type: 'ProjectHookID', nullable: false, resolve: ({ id }) => globalIds.of('ProjectHook', id) }),
      ...hookFieldsOf(t),
    }),
  })
  builder.objectType('GroupHook', {
    description: 'Webhook of a group; groups of this service have none',
    fields: (t) => ({
      id: t.field({ type: 'GroupHookID', nullable: false, resolve: ({ id }) => globalIds.of('GroupHook', id) }),
      ...hookFieldsOf(t),
      ...Object.fromEntries(
        ['memberEvents', 'projectEvents', 'subgroupEvents'].map((name) => [
          name,
          t.boolean({ nullable: false, resolve: () => false }),
        ]),
      ),
    }),
  })

  builder.objectField('Project', 'webhook', (t) =>
    t.field({
      type: 'ProjectHook',
      description: 'Experimental. Null for callers who may not manage webhooks',
      ...withCost(lookup),
      args: { id: t.arg({ type: 'ProjectHookID', required: true }) },
      resolve: (project, { id }, context) => loadBatched(context, findHookOfEachProject, project, { hookId: id }),
    }),
  )
  builder.objectField('Group', 'webhook', (t) =>
    t.field({
      type: 'GroupHook',
      description: 'Experimental. Always null',
      ...withCost(lookup),
      args: { id: t.arg({ type: 'GroupHookID', required: true }) },
      resolve: () => null,
    }),
  )
}

/** Returns a function that makes the fields that the hooks of projects and groups share. */
function hookFieldsIn(kit: Kit) {
  const { builder } = kit
  const alertStatus = builder.enumType('WebhookAlertStatus', { values: valuesOf(alertStatuses) })
  const branchFilterStrategy = builder.enumType('WebhookBranchFilterStrategy', {
    values: valuesOf(branchFilterStrategies),
  })
  const keyed = (name: string, description: string) =>
    builder
      .objectRef<{ readonly key: string }>(name)
      .implement({ description, fields: (t) => ({ key: t.exposeString('key', { nullable: false }) }) })
  const customHeader = keyed('WebhookCustomHeader', 'Custom header of a webhook, without its value')
  const urlVariable = keyed('WebhookUrlVariable', 'URL variable of a webhook, without its value')
  const timestampRange = builder.inputType('TimestampRange', {
    fields: (t) => ({ start: t.field({ type: 'Time' }), end: t.field({ type: 'Time' }) }),
  })

  return (t: FieldsOf<ShownHook>) => ({
    ...plainFields(t, hookFields, ['url', 'name', 'description', 'createdAtMs', 'disabledUntilMs', ...switches]),
    ...plainFields(t, hookFields, ['enableSslVerification', 'pushEventsBranchFilter', 'customWebhookTemplate'], {
      nullable: true,
    }),
    alertStatus: t.field({ type: alertStatus, nullable: false, resolve: (hook) => hook.alertStatus }),
    branchFilterStrategy: t.field({
      type: branchFilterStrategy,
      nullable: false,
      resolve: (hook) => hook.branchFilterStrategy,
    }),
    customHeaders: t.field({ type: [customHeader], resolve: ({ customHeaderKeys }) => customHeaderKeys.map(asKey) }),
    urlVariables: t.field({ type: [urlVariable], resolve: ({ urlVariableKeys }) => urlVariableKeys.map(asKey) }),
    tokenPresent: t.boolean({ nullable: false, resolve: ({ hasToken }) => hasToken }),
    signingTokenPresent: t.boolean({ nullable: false, resolve: ({ hasSigningToken }) => hasSigningToken }),
    webhookEvent: t.field({
      type: 'WebhookEvent',
      ...withCost(lookup),
      args: { id: t.arg({ type: 'WebHookLogID', required: true }), timestampRange: t.arg({ type: timestampRange }) },
      resolve: (hook, { id, timestampRange: range }, context) =>
        loadBatched(context, findCallOfEachHook, hook, { callId: id, ...omitNullish(range ?? {}) }),
    }),
    webhookEvents: connectionField(kit, t, 'WebhookEvent', {
      description: 'Calls of the past 7 days, newest first',
      cost: lookup,
      args: { timestampRange: t.arg({ type: timestampRange }) },
      list: (hook, { timestampRange: range }, context) =>
        loadBatched(context, listCallsOfEachHook, hook, omitNullish(range ?? {})),
    }),
  })
}

const asKey = (key: string) => ({ key })

function addWebhookEvents({ builder, globalIds }: Kit): void {
  const header = builder.objectRef<readonly [name: string, value: string]>('WebhookEventHeaderType').implement({
    fields: (t) => ({
      name: t.string({ nullable: false, resolve: ([name]) => name }),
      value: t.string({ nullable: false, resolve: ([, value]) => value }),
    }),
  })
  builder.objectType('WebhookEvent', {
    description: 'One call of a webhook',
    fields: (t) => ({
      id: t.field({ type: 'WebHookLogID', nullable: false, resolve: ({ id }) => globalIds.of('WebHookLog', id) }),
      createdAt: t.field({ type: 'Time', nullable: false, resolve: ({ createdAtMs }) => createdAtMs }),
      url: t.exposeString('url'),
      trigger: t.exposeString('trigger'),
      requestHeaders: t.field({ type: [header], resolve: ({ requestHeaders }) => Object.entries(requestHeaders) }),
      requestData: descriptionField(t, requestDataOfCalls),
      responseStatus: t.string({ resolve: ({ status }) => (status === undefined ? INTERNAL_ERROR : String(status)) }),
      responseHeaders: t.field({ type: [header], resolve: ({ responseHeaders }) => Object.entries(responseHeaders) }),
      responseBody: t.exposeString('responseBody'),
      executionDuration: t.float({ description: 'Seconds', resolve: ({ durationMs }) => durationMs / 1_000 }),
      internalErrorMessage: t.string({ resolve: ({ internalError }) => internalError }),
      oversize: t.boolean({
        nullable: false,
        description: 'Whether the request data was too large for the log',
        resolve: ({ isOversize }) => isOversize,
      }),
    }),
  })
}
