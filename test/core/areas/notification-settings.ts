import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import type { Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const everything: Shape = { exactly: { level: 'text', notification_email: 'text' } }
const setting: Shape = { exactly: { level: 'text' } }
const events = {
  new_release: 'flag?',
  new_note: 'flag?',
  new_issue: 'flag?',
  reopen_issue: 'flag?',
  close_issue: 'flag?',
  reassign_issue: 'flag?',
  issue_due: 'flag?',
  new_merge_request: 'flag?',
  push_to_merge_request: 'flag?',
  reopen_merge_request: 'flag?',
  close_merge_request: 'flag?',
  reassign_merge_request: 'flag?',
  change_reviewer_merge_request: 'flag?',
  merge_merge_request: 'flag?',
  failed_pipeline: 'flag?',
  fixed_pipeline: 'flag?',
  success_pipeline: 'flag?',
  moved_project: 'flag?',
  merge_when_pipeline_succeeds: 'flag?',
  approver: 'flag?',
  new_epic: 'flag?',
} as const
const custom: Shape = { exactly: { level: { is: 'custom' }, events: { exactly: events } } }

export const area: MatrixArea = {
  access: {
    set_notifications: {
      rule: 'everyone who has signed in and sees the group or project',
      group: '--yyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
  },

  rows: [
    { call: 'GET /notification_settings', may: 'signed in', answer: [200, everything] },
    {
      call: 'PUT /notification_settings',
      may: 'signed in',
      answer: [200, everything],
      needs: ['no settings'],
      send: { level: 'watch' },
    },
    ...parentKinds.flatMap((kind): MatrixRow[] => {
      const path = `/${kind}s/:id/notification_settings`
      const may = leastOf(kind, 10)
      return [
        { call: `GET ${path}`, may, visitors: 'signed in', answer: [200, setting] },
        {
          call: `PUT ${path}`,
          may,
          visitors: 'signed in',
          answer: [200, custom],
          send: { level: 'custom', new_note: true },
        },
      ]
    }),
  ],

  things: {
    // Several callers are the same user, and each of them changes the level.
    'no settings': async ({ server: { world } }) => {
      await world.core.db.write((db) => db.deleteFrom('notification_settings').execute())
      return {}
    },
  },
}
