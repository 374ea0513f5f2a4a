import {
  createHook,
  getProjectHook,
  listHookEvents,
  listHooks,
  removeHook,
  removeHookHeader,
  removeHookUrlVariable,
  resendHookEvent,
  setHookHeader,
  setHookUrlVariable,
  testHook,
  updateProjectHook,
} from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member } from '../routing/json-shape.ts'
import { type Area, type RestRoute, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { hookEventShape, hookShape } from './shapes/hook-shape.ts'

const names = { project: 'id' } as const
const all = '/projects/:id/hooks'
const one = `${all}/:hook_id`
const stored = ['vulnerability_events', 'name', 'description']

const resentShape = jsonShape<{ readonly responseStatus: number }>('ResentHookEvent', {
  responseStatus: member(z.int(), ({ responseStatus }) => responseStatus),
})
const testedShape = jsonShape<{ readonly message: string }>('TestedHook', {
  message: member(z.string(), ({ message }) => message),
})

/** The routes that set and remove one header or URL variable. */
const pairRoutes = (
  path: string,
  noun: string,
  operations: { readonly set: typeof setHookHeader; readonly remove: typeof removeHookHeader },
): RestRoute[] => [
  route({
    method: 'PUT',
    path: `${one}/${path}/:key`,
    operation: operations.set,
    names,
    endsInName: true,
    summary: `Set a ${noun} of a webhook.`,
  }),
  route({
    method: 'DELETE',
    path: `${one}/${path}/:key`,
    operation: operations.remove,
    names,
    endsInName: true,
    summary: `Remove a ${noun} of a webhook.`,
  }),
]

export const hooksArea: Area = {
  tag: 'Project webhooks',
  routes: [
    route({
      method: 'GET',
      path: all,
      operation: listHooks,
      names,
      shape: hookShape,
      parameters: orderedList,
      summary: 'List the webhooks of a project, oldest first.',
    }),
    route({
      method: 'GET',
      path: one,
      operation: getProjectHook,
      names,
      shape: hookShape,
      summary: 'Get a webhook of a project.',
    }),
    route({
      method: 'POST',
      path: all,
      operation: createHook,
      names,
      shape: hookShape,
      parameters: { stored },
      summary: 'Create a webhook of a project.',
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateProjectHook,
      names,
      shape: hookShape,
      parameters: { stored },
      summary: 'Update a webhook of a project.',
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeHook,
      names,
      shape: hookShape,
      summary: 'Delete a webhook of a project. The answer is the webhook, or empty if there is none.',
    }),
    route({
      method: 'GET',
      path: `${one}/events`,
      operation: listHookEvents,
      names,
      shape: hookEventShape,
      summary: 'List the calls of a webhook in the past 7 days, newest first.',
    }),
    route({
      method: 'POST',
      path: `${one}/events/:hook_event_id/resend`,
      operation: resendHookEvent,
      names,
      shape: resentShape,
      summary: 'Send an earlier call of a webhook again.',
    }),
    route({
      method: 'POST',
      path: `${one}/test/:trigger`,
      operation: testHook,
      names,
      shape: testedShape,
      summary: 'Call a webhook with a sample of an event.',
    }),
    ...pairRoutes('custom_headers', 'custom header', { set: setHookHeader, remove: removeHookHeader }),
    ...pairRoutes('url_variables', 'URL variable', { set: setHookUrlVariable, remove: removeHookUrlVariable }),
  ],
}
