import { groupVariables, projectVariables } from '@penstock/core'
import { leastOf, type MatrixRow, parentKinds } from '../http-matrix-row.ts'
import { listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const variable: Shape = {
  has: {
    key: 'text',
    value: 'text?',
    variable_type: 'text',
    protected: 'flag',
    masked: 'flag',
    raw: 'flag',
    hidden: 'flag',
    environment_scope: 'text',
    description: 'text?',
  },
}

export const area: MatrixArea = {
  access: {
    admin_variables: {
      rule: 'Maintainers and higher manage the variables of a project',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    admin_group_variables: {
      rule: 'Owners manage the variables of a group',
      group: '--nnnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: parentKinds.flatMap((kind): MatrixRow[] => {
    const all = `/${kind}s/:id/variables`
    const may = leastOf(kind, kind === 'project' ? 40 : 50)
    const needs = ['variable']
    return [
      { call: `GET ${all}`, may, answer: [200, listOf(variable)], needs },
      { call: `GET ${all}/:key`, may, answer: [200, variable], needs },
      { call: `POST ${all}`, may, answer: [201, variable], send: { key: 'NEW', value: 'x' } },
      { call: `PUT ${all}/:key`, may, answer: [200, variable], needs, send: { value: 'y' } },
      { call: `DELETE ${all}/:key`, may, answer: [204], needs },
    ]
  }),

  things: {
    variable: async ({ server: { world, root }, parent }) => {
      const { create } = parent!.kind === 'group' ? groupVariables : projectVariables
      await world.perform(root, create, { parent: parent!.id, key: 'KEY', value: 'plain' })
      return { key: 'KEY' }
    },
  },
}
