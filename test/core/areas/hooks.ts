import { createHook, endHookCall, insertHookCall, switchByColumn } from '@penstock/core'
import { leastOf, type MatrixRow } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const keys: Shape = { listOf: { exactly: { key: 'text' } } }
const hook: Shape = {
  exactly: {
    ...Object.fromEntries([...switchByColumn.keys()].map((name) => [name, 'flag' as const])),
    id: 'int',
    url: 'text',
    name: 'text?',
    description: 'text?',
    created_at: 'time',
    enable_ssl_verification: 'flag',
    alert_status: { is: 'executable' },
    disabled_until: 'time?',
    url_variables: keys,
    push_events_branch_filter: 'text?',
    branch_filter_strategy: { is: 'wildcard' },
    custom_webhook_template: 'text?',
    custom_headers: keys,
    project_id: 'int',
    vulnerability_events: 'flag',
    token_present: 'flag',
    signing_token_present: 'flag',
    ai_flow_callback_enabled: 'flag',
  },
}
const event: Shape = {
  exactly: {
    id: 'int',
    url: 'text',
    trigger: 'text',
    request_headers: 'map',
    request_data: 'map',
    response_headers: 'map',
    response_body: 'text',
    execution_duration: 'int',
    response_status: 'text',
    created_at: 'time',
  },
}

const url = 'https://ci.example.test/in'
const all = '/projects/:id/hooks'
const one = `${all}/:hook_id`
const may = leastOf('project', 40)
const onHook = { may, needs: ['hook'] } as const
const pairs = { customHeaders: [{ key: 'X-Team', value: 'a' }], urlVariables: [{ key: 'tenant', value: 'a' }] }
const onEvent = { may, needs: ['hook event'] } as const
const refused: MatrixRow['answer'] = [422, { exactly: { message: 'text' } }]

export const area: MatrixArea = {
  access: {
    read_hook: { rule: 'Maintainers and higher', project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy' },
    admin_hook: { rule: 'Maintainers and higher', project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy' },
  },

  rows: [
    { call: `GET ${all}`, ...onHook, answer: [200, listOf(hook)] },
    { call: `GET ${one}`, ...onHook, answer: [200, hook] },
    { call: `POST ${all}`, may, answer: [201, hook], send: { url } },
    { call: `PUT ${one}`, ...onHook, answer: [200, hook], send: { url, issues_events: true } },
    { call: `DELETE ${one}`, ...onHook, answer: [200, hook] },
    { call: `GET ${one}/events`, ...onEvent, answer: [200, listOf(event)] },
    // The server of these tests sends no requests.
    { call: `POST ${one}/events/:hook_event_id/resend`, ...onEvent, answer: refused },
    { call: `POST ${one}/test/:trigger`, ...onHook, answer: refused, at: { trigger: 'push_events' } },
    { call: `PUT ${one}/custom_headers/:key`, ...onHook, answer: [204], at: { key: 'X-Team' }, send: { value: 'b' } },
    { call: `DELETE ${one}/custom_headers/:key`, ...onHook, answer: [204], at: { key: 'X-Team' } },
    { call: `PUT ${one}/url_variables/:key`, ...onHook, answer: [204], at: { key: 'tenant' }, send: { value: 'b' } },
    { call: `DELETE ${one}/url_variables/:key`, ...onHook, answer: [204], at: { key: 'tenant' } },
  ],

  things: {
    hook: async ({ server: { world, root }, parent }) => {
      const draft = { project: parent!.id, url, ...pairs }
      return { hook_id: (await world.perform(root, createHook, draft)).id }
    },
    'hook event': async ({ server: { world, root }, parent }) => {
      const { id: hook_id } = await world.perform(root, createHook, { project: parent!.id, url })
      const hook_event_id = await world.core.db.write(async (db) => {
        const tx = { db, nowMs: world.clock.nowMs() }
        const id = await insertHookCall(tx, {
          hookId: hook_id,
          trigger: 'push_hooks',
          url,
          urlDigest: 'former',
          idempotencyKey: '0d2c1d0e-6a3b-4a0d-9a55-0b8f0a7a1c11',
          requestHeaders: {},
          requestData: '{}',
        })
        await endHookCall(tx, id, {
          status: 200,
          internalError: undefined,
          responseHeaders: {},
          responseBody: 'ok',
          durationMs: 1_000,
        })
        return id
      })
      return { hook_id, hook_event_id }
    },
  },
}
