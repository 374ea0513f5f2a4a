import { groupVariables, projectVariables, type ShownVariable, variableFields } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member, membersOf, pick } from '../routing/json-shape.ts'
import { parentRoutes } from '../routing/parent-routes.ts'
import type { Area } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'

const plain = membersOf(variableFields)

const variableShape = jsonShape<ShownVariable>('Variable', {
  ...pick(plain, 'variableType', 'key'),
  value: member(z.string().nullable(), ({ value }) => value ?? null),
  ...pick(plain, 'hidden', 'protected', 'masked', 'raw', 'environmentScope', 'description'),
})

export const variablesArea: Area = {
  tag: 'CI/CD variables',
  routes: parentRoutes({
    noun: 'variable',
    key: 'key',
    operations: { project: projectVariables, group: groupVariables },
    shape: variableShape,
    parameters: { list: orderedList },
    endsInName: true,
  }),
}
