import { leastOf } from '../http-matrix-row.ts'
import { basicUser, listOf } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

export const area: MatrixArea = {
  access: {},
  rows: [
    {
      call: 'GET /projects/:id/users',
      may: leastOf('project', 10),
      visitors: 'anyone',
      answer: [200, listOf(basicUser)],
    },
  ],
  things: {},
}
