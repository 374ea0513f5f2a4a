import type { Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const version: Shape = { has: { version: 'text', revision: 'text' } }

export const area: MatrixArea = {
  access: {},

  rows: [
    { call: 'GET /version', may: 'signed in', answer: [200, version], scopes: ['read_user'] },
    { call: 'GET /metadata', may: 'signed in', answer: [200, version], scopes: ['read_user'] },
  ],

  things: {},
}
