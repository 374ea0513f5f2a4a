import type { z } from 'zod'
import type { Subject } from '../access/subject.ts'
import { DomainError, invalid, notFound } from '../kit/domain-error.ts'
import { errorTexts } from '../kit/error-texts.ts'
import { newObject, validate, withInput } from '../kit/field-table.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { parentIds } from '../model/parent.ts'
import type { Tx } from '../operations/context.ts'
import { type OnParent, onGroupsAndProjects } from '../parents/parent-operations.ts'
import {
  createLabelInput,
  type DescribedLabel,
  type Label,
  labelDraft,
  labelInput,
  listLabelsInput,
  removeLabelInput,
  updateLabelInput,
} from './label.ts'
import { deleteLabel, findLabel, insertLabel, pageOfLabels, updateLabel } from './label-store.ts'

export const { group: groupLabels, project: projectLabels } = onGroupsAndProjects(
  { noun: 'Label', readers: 'anyone', permissions: () => ({ read: 'read_label', write: 'admin_label' }) },
  (on) => ({
    list: on.list(listLabelsInput, (context, input) => {
      const { search, includeAncestorGroups: withInherited } = input
      return pageOfLabels(context, { subject: context.subject, withInherited, search }, input)
    }),

    get: on.get(labelInput, (context, input) =>
      getLabel(context, context.subject, input.labelId, input.includeAncestorGroups),
    ),

    create: on.create(createLabelInput, async (tx, input) => {
      const draft = newObject(labelDraft, input)
      validate(labelDraft, draft)
      if (await findNamesake(tx, tx.subject, draft.name)) {
        throw new DomainError({ code: 'conflict', reason: 'Label already exists' })
      }
      const label = await insertLabel(tx, tx.subject, draft)
      await recordLabelEvent(tx, 'created', label)
      return label
    }),

    update: on.update(updateLabelInput, async (tx, { newName: name, ...input }) => {
      const before = await getLabel(tx, tx.subject, refOf(input), false)
      const draft = withInput(labelDraft, before, { ...input, name })
      validate(labelDraft, draft)
      if (draft.name !== before.name && (await findNamesake(tx, tx.subject, draft.name))) {
        throw invalid({ name: [errorTexts.taken] })
      }
      const label = await updateLabel(tx, before.id, draft)
      await recordLabelEvent(tx, 'updated', label)
      return label
    }),

    remove: on.remove(removeLabelInput, async (tx, input) => {
      const label = await getLabel(tx, tx.subject, refOf(input), false)
      await deleteLabel(tx, label.id)
      await recordLabelEvent(tx, 'removed', label)
    }),
  }),
)

/** Returns the reference to a label; the schema requires one of the two. */
const refOf = ({ labelId, name }: Pick<z.output<typeof removeLabelInput>, 'labelId' | 'name'>) => labelId ?? name!

async function getLabel(
  context: ReadContext,
  subject: Subject,
  ref: number | string,
  withInherited: boolean,
): Promise<DescribedLabel> {
  const label = await findLabel(context, { subject, withInherited }, ref)
  if (label === undefined) throw notFound('Label')
  return label
}

const findNamesake = (tx: Tx, subject: Subject, name: string) => findLabel(tx, { subject, withInherited: true }, name)

const recordLabelEvent = (tx: OnParent<Tx>, what: 'created' | 'updated' | 'removed', { id, name }: Label) =>
  tx.recordEvent({ type: `label.${what}`, objectId: id, ...parentIds(tx.subject), details: { name } })
