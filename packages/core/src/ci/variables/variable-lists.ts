import { z } from 'zod'
import { emptyListing, type Listed, listedEach } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'
import { batchQuery, unscopedQuery } from '../../base/operations/operation.ts'
import { effectiveVariables, type VariableCircumstances } from './effective-variables.ts'
import { type ShownVariable, type Variable, variablesOfEachInput } from './variable.ts'
import { inheritedVariableListing, unsealVariable, variableLevelsOf } from './variable-store.ts'

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

/**
 * Returns the variables for a pipeline of a project, with their values. For use by the service itself, not for clients.
 */
export async function variablesFor(
  context: ReadContext,
  core: Core,
  project: Project,
  circumstances: VariableCircumstances,
): Promise<Variable[]> {
  const levels = await variableLevelsOf(context, project)
  return effectiveVariables(levels, circumstances).map((variable) => unsealVariable({ core }, variable))
}
