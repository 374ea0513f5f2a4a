import type { Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const settings: Shape = {
  has: {
    id: 'int',
    created_at: 'time',
    updated_at: 'time',
    default_projects_limit: 'int',
    default_project_visibility: 'text',
    home_page_url: 'text?',
  },
}

export const area: MatrixArea = {
  access: {},
  rows: [
    { call: 'GET /application/settings', may: 'administrators', answer: [200, settings] },
    {
      call: 'PUT /application/settings',
      may: 'administrators',
      answer: [200, settings],
      needs: ['new limit'],
      send: { default_projects_limit: '{limit}' },
    },
  ],
  things: {
    // Each request has another value, so that each changes something.
    'new limit': async ({ server: { world } }) => {
      world.clock.advance(1)
      return { limit: world.clock.nowMs() % 1_000_000 }
    },
  },
}
