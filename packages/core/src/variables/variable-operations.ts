import { z } from 'zod'
import type { Subject } from '../access/subject.ts'
import { getGroup } from '../groups/group-store.ts'
import type { Core, OperationContext, ReadContext, Tx } from '../kit/context.ts'
import { DomainError, invalid, notFound } from '../kit/domain-error.ts'
import { emptyListing, type Listed, listedEach } from '../kit/listing.ts'
import { batchQuery, command, query, unscopedQuery } from '../kit/operation.ts'
import { mapPage, type Page, type PageRequest, pageInput } from '../kit/page.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import type { Project } from '../projects/project.ts'
import { getProject } from '../projects/project-store.ts'
import { effectiveVariables, type VariableCircumstances } from './effective-variables.ts'
import {
  EVERY_ENVIRONMENT,
  maxVariables,
  type Variable,
  type VariableDraft,
  validateVariable,
  variableFilter,
  variableInput,
} from './variable.ts'
import {
  countVariables,
  deleteVariable,
  findSealedVariables,
  findVariables,
  inheritedVariableListing,
  insertVariable,
  pageOfVariables,
  type SealedVariable,
  unsealVariable,
  updateVariable,
  variableListing,
  variableOrders,
} from './variable-store.ts'

/** A variable as shown to its administrators; `value` is missing if it is hidden. */
export interface ShownVariable extends Omit<Variable, 'value'> {
  readonly value: string | undefined
}

/** Identifies a variable by its key, and by its scope if several have the key. */
const variableRefInput = { key: z.string().min(1).max(255), filter: variableFilter }
const createdInput = { key: z.string(), value: z.string(), maskedAndHidden: z.boolean().nullish(), ...variableInput }
const changedInput = { value: z.string().nullish(), ...variableInput }

const variablesOfEachInput = z.object({
  orderBy: z.enum(variableOrders).default('id'),
  sort: z.enum(['asc', 'desc']).default('asc'),
})

/** The operations on variables. Groups and projects differ in who may administer them. */
export const groupVariables = variablesOf('Group', 'admin_group_variables', getGroup)
export const projectVariables = variablesOf('Project', 'admin_variables', getProject)

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

function variablesOf(
  owner: 'Group' | 'Project',
  permission: 'admin_group_variables' | 'admin_variables',
  find: (context: ReadContext, ref: number | string) => Promise<Subject>,
) {
  const about = {
    permission,
    subject: (context: ReadContext, { parent }: { readonly parent: number | string }) => find(context, parent),
  } as const

  return {
    list: query(
      { name: `list${owner}Variables`, input: z.object({ parent: namespaceRef, ...pageInput }), ...about },
      list,
    ),
    listEach: batchQuery(
      { name: `list${owner}VariablesOfEach`, input: variablesOfEachInput, permission },
      async (context, subjects: readonly Subject[], order) =>
        listedEach(variableListing(context.core, context, subjects, order, toShownVariable), subjects.length),
    ),
    get: query(
      { name: `get${owner}Variable`, input: z.object({ parent: namespaceRef, ...variableRefInput }), ...about },
      get,
    ),
    create: command(
      { name: `create${owner}Variable`, input: z.object({ parent: namespaceRef, ...createdInput }), ...about },
      create,
    ),
    update: command(
      {
        name: `update${owner}Variable`,
        input: z.object({ parent: namespaceRef, ...variableRefInput, ...changedInput }),
        ...about,
      },
      update,
    ),
    remove: command(
      { name: `remove${owner}Variable`, input: z.object({ parent: namespaceRef, ...variableRefInput }), ...about },
      remove,
    ),
  }
}

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
  return effectiveVariables(levels, circumstances).map((variable) => unsealVariable(core, variable))
}

/**
 * Returns the variables of the project, then of its groups from the nearest up, still encrypted; `keys` selects some of
 * them.
 */
export async function variableLevelsOf(
  context: ReadContext,
  { id: projectId, groupIds }: Project,
  keys?: readonly string[],
): Promise<SealedVariable[][]> {
  const all = await findSealedVariables(context, { projectId, groupIds }, keys)
  const nearestFirst = [undefined, ...groupIds.toReversed()]
  return nearestFirst.map((groupId) => all.filter((variable) => variable.groupId === groupId))
}

type Named = z.output<z.ZodObject<typeof variableRefInput>>
type Created = z.output<z.ZodObject<typeof createdInput>>
type Changed = z.output<z.ZodObject<typeof changedInput>>
type WithSubject<Context> = OperationContext & Context & { readonly subject: Subject }

async function list(context: WithSubject<ReadContext>, request: PageRequest): Promise<Page<ShownVariable>> {
  return mapPage(await pageOfVariables(context.core, context, context.subject, request), toShownVariable)
}

async function get(context: WithSubject<ReadContext>, input: Named): Promise<ShownVariable> {
  return toShownVariable(await getOne(context, input))
}

async function create(context: WithSubject<Tx>, input: Created): Promise<ShownVariable> {
  const { core, subject } = context
  const draft: VariableDraft = {
    key: input.key.trim(),
    value: input.value,
    type: input.variableType ?? 'env_var',
    isProtected: input.protected ?? false,
    isMasked: (input.masked ?? false) || (input.maskedAndHidden ?? false),
    isHidden: input.maskedAndHidden ?? false,
    isRaw: input.raw ?? false,
    environmentScope: input.environmentScope || EVERY_ENVIRONMENT,
    description: input.description ?? undefined,
  }
  await requireValidVariable(context, draft)
  const limit = maxVariables[subject.kind]
  if ((await countVariables(context, subject)) >= limit) {
    throw invalid({ base: [`Maximum number of ${subject.kind} CI/CD variables (${limit}) exceeded`] })
  }
  const variable = await insertVariable(core, context, subject, draft)
  await recordVariableEvent(context, 'created', variable)
  return toShownVariable(variable)
}

async function update(context: WithSubject<Tx>, { filter, key, ...input }: Named & Changed): Promise<ShownVariable> {
  const { core, subject } = context
  const former = await getOne(context, { key, filter })
  const isMasked = input.masked ?? former.isMasked
  if (former.isHidden && !isMasked) throw invalid({ base: ['A variable that is masked and hidden stays so'] })
  const variable: Variable = {
    ...former,
    value: input.value ?? former.value,
    type: input.variableType ?? former.type,
    isProtected: input.protected ?? former.isProtected,
    isMasked,
    isRaw: input.raw ?? former.isRaw,
    environmentScope: input.environmentScope || former.environmentScope,
    description: input.description === undefined ? former.description : (input.description ?? undefined),
  }
  await requireValidVariable(context, variable)
  const changedVariable = await updateVariable(core, context, subject, variable)
  await recordVariableEvent(context, 'updated', changedVariable)
  return toShownVariable(changedVariable)
}

async function remove(context: WithSubject<Tx>, input: Named): Promise<void> {
  const variable = await getOne(context, input)
  await deleteVariable(context, variable.id)
  await recordVariableEvent(context, 'removed', variable)
}

/** Returns the variable. @throws DomainError `not_found`; `ambiguous` if several match */
async function getOne(context: WithSubject<ReadContext>, { key, filter }: Named): Promise<Variable> {
  const environmentScope = filter?.environmentScope ?? undefined
  const [variable, another] = await findVariables(context.core, context, context.subject, { key, environmentScope })
  if (variable === undefined) throw notFound('Variable')
  if (another === undefined) return variable
  throw new DomainError({ code: 'ambiguous', what: 'variables', distinguishedBy: ['filter', 'environmentScope'] })
}

/** Rejects an invalid draft, and a key and scope that another variable has. @throws DomainError `invalid` */
async function requireValidVariable(
  context: WithSubject<Tx>,
  draft: VariableDraft & { readonly id?: number },
): Promise<void> {
  const problems = validateVariable(draft)
  const namesakes = await findVariables(context.core, context, context.subject, draft)
  if (namesakes.some(({ id }) => id !== draft.id)) {
    problems.key = [...(problems.key ?? []), `(${draft.key}) has already been taken`]
  }
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

/** Records an event without the value. */
async function recordVariableEvent(
  { subject, recordEvent }: WithSubject<Tx>,
  what: string,
  { id, key, environmentScope }: Variable,
): Promise<void> {
  await recordEvent({
    type: `variable.${what}`,
    objectId: id,
    ...(subject.kind === 'project' ? { projectId: subject.id } : { groupId: subject.id }),
    details: { key, environmentScope },
  })
}

const toShownVariable = (variable: Variable): ShownVariable => ({
  ...variable,
  value: variable.isHidden ? undefined : variable.value,
})
