import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { listOf, member } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const everyone = { visitors: 'anyone' } as const

export const area: MatrixArea = {
  access: {
    read_members: {
      rule: 'everyone who sees the group or project, except with minimal access',
      group: '--nyyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    admin_project_members: {
      rule: 'Maintainers and higher manage the members of a project',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    admin_group_members: {
      rule: 'Owners manage the members of a group',
      group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    // Maintainers manage the members of a project, Owners those of a group.
    ...parentKinds.flatMap((kind): MatrixRow[] => {
      const all = `/${kind}s/:id/members`
      const reads = { may: leastOf(kind, 10), ...everyone } as const
      const writes = { may: leastOf(kind, kind === 'project' ? 40 : 50) } as const
      return [
        { call: `GET ${all}`, ...reads, answer: [200, listOf(member)], needs: ['member'] },
        { call: `GET ${all}/all`, ...reads, answer: [200, listOf(member)] },
        { call: `GET ${all}/:user_id`, ...reads, answer: [200, member], needs: ['member'] },
        { call: `GET ${all}/all/:user_id`, ...reads, answer: [200, member], needs: ['member'] },
        {
          call: `POST ${all}`,
          ...writes,
          answer: [201, member],
          needs: ['user'],
          send: { user_id: '{user_id}', access_level: 20 },
        },
        {
          call: `PUT ${all}/:user_id`,
          ...writes,
          answer: [200, member],
          needs: ['member'],
          send: { access_level: 20 },
        },
        { call: `DELETE ${all}/:user_id`, ...writes, answer: [204], needs: ['member'] },
      ]
    }),
  ],

  things: {
    member: async ({ server, parent }) => {
      const user = await server.createUser()
      await server.world.member(parent!, user, 10)
      return { user_id: user.id }
    },
  },
}
