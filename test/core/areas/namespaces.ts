import { updateGroup, updateProject } from '@penstock/core'
import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { listOf, project, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const namespace: Shape = {
  has: {
    id: 'int',
    name: 'text',
    path: 'text',
    kind: 'text',
    full_path: 'text',
    parent_id: 'int?',
    avatar_url: 'text?',
    web_url: 'text',
    plan: 'text',
    trial: 'flag',
  },
}

const hidden = { status: 404, body: { message: '404 Namespace Not Found' } }

export const area: MatrixArea = {
  access: {},

  rows: [
    { call: 'GET /namespaces', may: 'signed in', answer: [200, listOf(namespace)], mayBeEmpty: true },
    {
      call: 'GET /namespaces/:id',
      may: 'signed in',
      needs: ['own namespace'],
      answer: [200, namespace],
      // Bots have no namespaces, and the one of the path belongs to the user.
      except: { 'project token': hidden, 'group token': hidden },
    },
    {
      call: 'GET /namespaces/:id/exists',
      may: 'signed in',
      needs: ['own namespace'],
      answer: [200, { exactly: { exists: 'flag', suggests: { listOf: 'text' } } }],
    },
    {
      call: 'GET /groups/:id/projects/shared',
      may: { group: 10 },
      visitors: 'anyone',
      answer: [200, listOf(project)],
      mayBeEmpty: true,
    },
    ...parentKinds.map(
      (kind): MatrixRow => ({
        call: `GET /${kind}s/:id/avatar`,
        may: leastOf(kind, 10),
        visitors: 'anyone',
        needs: ['picture'],
        answer: [200, 'bytes'],
      }),
    ),
  ],

  things: {
    'own namespace': async ({ caller }) => ({ id: caller.username }),
    picture: async ({ server: { world, root }, parent }) => {
      const bytes = Buffer.from('GIF89a', 'latin1')
      const avatar = { fileName: 'a.gif', contentType: 'image/gif', bytes }
      if (parent!.kind === 'group') await world.perform(root, updateGroup, { group: parent!.id, avatar })
      else await world.perform(root, updateProject, { project: parent!.id, avatar })
      return {}
    },
  },
}
