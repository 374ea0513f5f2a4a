import { createIssue } from '@penstock/core'
import { issue } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

export const area: MatrixArea = {
  access: {
    set_issue_numbers: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [{ call: 'GET /issues/:id', may: 'administrators', answer: [200, issue], needs: ['any issue'] }],

  things: {
    'any issue': async ({ server: { world, root }, server }) => {
      const project = await server.create('project', 'private')
      return { id: (await world.perform(root, createIssue, { project: project.id, title: 'Sow' })).id }
    },
  },
}
