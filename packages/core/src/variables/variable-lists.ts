import { z } from 'zod'
import type { Subject } from '../access/subject.ts'
import { emptyListing, type Listed, listedEach } from '../kit/listing.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Project } from '../model/project.ts'
import type { OperationContext } from '../operations/context.ts'
import { batchQuery, unscopedQuery } from '../operations/operation.ts'
import { type Variable, variablesOfEachInput } from './variable.ts'
import { inheritedVariableListing, type VariableOrder, variableListing } from './variable-store.ts'

/** A variable as shown to its administrators; `value` is missing if it is hidden. */
export interface ShownVariable extends Omit<Variable, 'value'> {
  readonly value: string | undefined
}

export const shownVariable = (variable: Variable): ShownVariable => ({
  ...variable,
  value: variable.isHidden ? undefined : variable.value,
})

export const listVariablesOfEach = async (
  context: OperationContext & ReadContext,
  subjects: readonly Subject[],
  order: VariableOrder,
) => listedEach(variableListing(context.core, context, subjects, order, shownVariable), subjects.length)

/** Lists the variables of the groups above each project, without their values. */
export const listInheritedVariablesOfEach = batchQuery(
  { name: 'listInheritedVariablesOfEach', input: variablesOfEachInput, permission: 'admin_variables' },
  async (context, projects: readonly Project[], order) =>
    listedEach(inheritedVariableListing(context, projects, order), projects.length),
)

/** Lists the variables of the instance. There are none, because variables belong to groups and projects. */
export const listInstanceVariables = unscopedQuery(
  { name: 'listInstanceVariables', caller: 'administrator', input: z.object({}) },
  async (): Promise<Listed<ShownVariable>> => ({ listing: emptyListing(1), index: 0 }),
)
