import type { z } from 'zod'
import { DomainError, invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { parentIds } from '../../base/model/parent.ts'
import type { Tx } from '../../base/operations/context.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { type OnParent, onGroupsAndProjects } from '../../identity/parents/parent-operations.ts'
import {
  createLabelInput,
  type DescribedLabel,
  labelDraft,
  labelEvents,
  labelInput,
  listLabelsInput,
  removeLabelInput,
  updateLabelInput,
} from './label.ts'
import { labelScopeOf } from './label-scope.ts'
import { deleteLabel, findLabel, insertLabel, pageOfLabels, updateLabel } from './label-store.ts'
import { type ShownLabel, withSubscriptions } from './label-subscriptions.ts'

export const { group: groupLabels, project: projectLabels } = onGroupsAndProjects(
  { noun: 'Label', readers: 'anyone', permissions: () => ({ read: 'read_label', write: 'admin_label' }) },
  (on) => ({
    list: on.list(listLabelsInput, (context, input) =>
      pageOfLabels(context, labelScopeOf(context.subject, input), input),
    ),

    get: on.get(labelInput, async (context, input): Promise<ShownLabel> => {
      const [label] = await withSubscriptions(context, [
        await getLabel(context, input.labelId, input.includeAncestorGroups),
      ])
      return label!
    }),

    create: on.create(createLabelInput, async (tx, input) => {
      const draft = newObject(labelDraft, input)
      validate(labelDraft, draft)
      if (await findNamesake(tx, draft.name)) {
        throw new DomainError({ code: 'conflict', reason: 'Label already exists' })
      }
      const label = await insertLabel(tx, tx.subject, draft)
      await recordChange(tx, labelEvents, 'created', { after: label, ...parentIds(tx.subject) })
      return label
    }),

    update: on.update(updateLabelInput, async (tx, { newName: name, ...input }): Promise<ShownLabel> => {
      const before = await getLabel(tx, refOf(input), false)
      const draft = withInput(labelDraft, before, { ...input, name })
      validate(labelDraft, draft)
      if (draft.name !== before.name && (await findNamesake(tx, draft.name))) {
        throw invalid({ name: [errorTexts.taken] })
      }
      const label = await updateLabel(tx, before.id, draft)
      await recordChange(tx, labelEvents, 'updated', { before, after: label, ...parentIds(tx.subject) })
      const [shown] = await withSubscriptions(tx, [label])
      return shown!
    }),

    remove: on.remove(removeLabelInput, async (tx, input) => {
      const label = await getLabel(tx, refOf(input), false)
      await deleteLabel(tx, label.id)
      await recordChange(tx, labelEvents, 'removed', { before: label, ...parentIds(tx.subject) })
    }),
  }),
)

/** Returns the reference to a label; the schema requires one of the two. */
const refOf = ({ labelId, name }: Pick<z.output<typeof removeLabelInput>, 'labelId' | 'name'>) => labelId ?? name!

async function getLabel(context: OnParent<ReadContext>, ref: number | string, above: boolean): Promise<DescribedLabel> {
  const label = await findLabel(context, { parent: context.subject, above }, ref)
  if (label === undefined) throw notFound('Label')
  return label
}

const findNamesake = (tx: OnParent<Tx>, name: string) => findLabel(tx, { parent: tx.subject, above: true }, name)
