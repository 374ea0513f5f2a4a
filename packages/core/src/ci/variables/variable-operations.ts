import type { z } from 'zod'
import { DomainError, invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import { listedEach } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { comparedFields, type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import { type OnParent, onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import {
  createVariableInput,
  isMaskable,
  listVariablesInput,
  maxVariables,
  shownVariable,
  updateVariableInput,
  type Variable,
  type VariableDraft,
  variableDraft,
  variableFields,
  variableInput,
  variablesOfEachInput,
} from './variable.ts'
import {
  countVariables,
  deleteVariable,
  findVariables,
  insertVariable,
  pageOfVariables,
  updateVariable,
  variableListing,
} from './variable-store.ts'

/** Groups and projects differ in who may administer their variables. */
export const { group: groupVariables, project: projectVariables } = onGroupsAndProjects(
  {
    noun: 'Variable',
    permissions: (kind) => (kind === 'group' ? 'admin_group_variables' : 'admin_variables'),
  },
  (on) => ({
    list: on.list(listVariablesInput, (context, page) => pageOfVariables(context, context.subject, page)),

    listEach: on.listEach(variablesOfEachInput, async (context, parents, order) =>
      listedEach(variableListing(context, parents, order), parents.length),
    ),

    get: on.get(variableInput, async (context, input) => shownVariable(await getOne(context, input))),

    create: on.create(createVariableInput, async (tx, { maskedAndHidden, environmentScope, ...input }) => {
      const { subject } = tx
      const draft = newObject(variableDraft, {
        ...input,
        key: input.key.trim(),
        masked: input.masked || maskedAndHidden,
        hidden: maskedAndHidden,
        environmentScope: environmentScope || undefined,
      })
      await validateVariable(tx, draft)
      const limit = maxVariables[subject.kind]
      if ((await countVariables(tx, subject)) >= limit) {
        throw invalid({ base: [`Maximum number of ${subject.kind} CI/CD variables (${limit}) exceeded`] })
      }
      const variable = await insertVariable(tx, subject, draft)
      await recordChange(tx, variableEvents, 'created', { after: variable, ...parentIds(subject) })
      return shownVariable(variable)
    }),

    update: on.update(updateVariableInput, async (tx, { environmentScope, ...input }) => {
      const former = await getOne(tx, input)
      const variable = withInput(variableDraft, former, { ...input, environmentScope: environmentScope || undefined })
      if (former.isHidden && !variable.isMasked) {
        throw invalid({ base: ['A variable that is masked and hidden stays so'] })
      }
      await validateVariable(tx, variable)
      const changed = await updateVariable(tx, tx.subject, variable)
      await recordChange(tx, variableEvents, 'updated', { before: former, after: changed, ...parentIds(tx.subject) })
      return shownVariable(changed)
    }),

    remove: on.remove(variableInput, async (tx, input) => {
      const variable = await getOne(tx, input)
      await deleteVariable(tx, variable.id)
      await recordChange(tx, variableEvents, 'removed', { before: variable, ...parentIds(tx.subject) })
    }),
  }),
)

/** Returns the variable. @throws DomainError `not_found`; `ambiguous` if several match */
async function getOne(context: OnParent<ReadContext>, input: z.output<typeof variableInput>): Promise<Variable> {
  const { key, filter } = input
  const environmentScope = filter?.environmentScope ?? undefined
  const [variable, another] = await findVariables(context, context.subject, { key, environmentScope })
  if (variable === undefined) throw notFound('Variable')
  if (another === undefined) return variable
  throw new DomainError({ code: 'ambiguous', what: 'variables', distinguishedBy: ['filter', 'environmentScope'] })
}

/** Rejects a draft that is invalid, or that has the key and scope of another variable. @throws DomainError `invalid` */
async function validateVariable(tx: OnParent<Tx>, draft: VariableDraft & { readonly id?: number }): Promise<void> {
  const namesakes = await findVariables(tx, tx.subject, draft)
  const isTaken = namesakes.some(({ id }) => id !== draft.id)
  validate(variableDraft, draft, {
    ...(isTaken && { key: [`(${draft.key}) ${errorTexts.taken}`] }),
    ...(draft.isMasked && !isMaskable(draft) && { value: [errorTexts.invalid] }),
  })
}

const variableEvents: RecordedKind<Variable> = {
  noun: 'variable',
  compared: comparedFields(variableFields),
  detailsOf: ({ key, environmentScope }) => ({ key, environmentScope }),
}
