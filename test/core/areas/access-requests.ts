import { type Answer, leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { basicUserMembers, listOf, member, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const request: Shape = { exactly: { ...basicUserMembers, requested_at: 'time' } }
const newRequest: Shape = { exactly: { ...basicUserMembers, created_at: 'time', requested_at: 'time' } }

const forbidden: Answer = { status: 403, body: { message: '403 Forbidden' } }
/** Members and administrators request nothing, whatever their credential. */
const notByMembers = (kind: 'project' | 'group') =>
  Object.fromEntries(
    [
      'least role',
      'administrator',
      'impersonation',
      'OAuth',
      'group token',
      'sudo',
      'session, CSRF token',
      ...(kind === 'project' ? ['project token'] : []),
    ].map((name) => [name, forbidden]),
  )

export const area: MatrixArea = {
  access: {
    read_access_request: {
      rule: 'everyone who has signed in and sees the group or project',
      group: '--yyyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
  },

  rows: parentKinds.flatMap((kind): MatrixRow[] => {
    const all = `/${kind}s/:id/access_requests`
    const decides = { may: leastOf(kind, kind === 'group' ? 50 : 40), needs: ['access request'] } as const
    const sees = { may: leastOf(kind, 10), visitors: 'signed in' } as const
    return [
      // Those who may not approve requests see their own only.
      { call: `GET ${all}`, ...sees, needs: ['access request'], answer: [200, listOf(request)], mayBeEmpty: true },
      { call: `POST ${all}`, ...sees, answer: [201, newRequest], except: notByMembers(kind) },
      { call: `PUT ${all}/:user_id/approve`, ...decides, answer: [201, member], send: { access_level: 20 } },
      { call: `DELETE ${all}/:user_id`, ...decides, answer: [204] },
    ]
  }),

  things: {
    'access request': async ({ server, parent }) => {
      const user = await server.createUser()
      // The group or project may have become private since the request.
      await server.world.core.db.write((db) =>
        db
          .insertInto('access_requests')
          .values({
            user_id: user.id,
            group_id: parent!.kind === 'group' ? parent!.id : null,
            project_id: parent!.kind === 'project' ? parent!.id : null,
            created_at_ms: server.world.clock.nowMs(),
          })
          .execute(),
      )
      return { user_id: user.id }
    },
  },
}
