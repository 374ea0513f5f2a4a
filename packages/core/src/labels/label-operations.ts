import type { z } from 'zod'
import type { Subject } from '../access/subject.ts'
import { getGroup } from '../groups/group-store.ts'
import type { ReadContext, Tx } from '../kit/context.ts'
import { DomainError, invalid, notFound } from '../kit/domain-error.ts'
import type { DomainEvent } from '../kit/event.ts'
import { command, query } from '../kit/operation.ts'
import type { namespaceRef } from '../kit/parameter-schemas.ts'
import { getProject } from '../projects/project-store.ts'
import {
  createLabelInput,
  type DescribedLabel,
  type Label,
  labelInput,
  listLabelsInput,
  removeLabelInput,
  updateLabelInput,
  validateLabel,
} from './label.ts'
import { deleteLabel, findLabel, insertLabel, pageOfLabels, updateLabel } from './label-store.ts'

/** The operations on labels. Groups and projects differ only in the owner of the labels. */
export const groupLabels = labelsOf('Group', (context, { parent }) => getGroup(context, parent))
export const projectLabels = labelsOf('Project', (context, { parent }) => getProject(context, parent))

function labelsOf(
  owner: 'Group' | 'Project',
  subject: (context: ReadContext, input: { readonly parent: z.output<typeof namespaceRef> }) => Promise<Subject>,
) {
  const reads = { caller: 'anyone', permission: 'read_label', subject } as const
  const writes = { permission: 'admin_label', subject } as const

  return {
    list: query({ name: `list${owner}Labels`, input: listLabelsInput, ...reads }, (context, input) => {
      const { search, includeAncestorGroups: withInherited } = input
      return pageOfLabels(context, { subject: context.subject, withInherited, search }, input)
    }),

    get: query({ name: `get${owner}Label`, input: labelInput, ...reads }, (context, input) =>
      getLabel(context, context.subject, input.labelId, input.includeAncestorGroups),
    ),

    create: command({ name: `create${owner}Label`, input: createLabelInput, ...writes }, async (tx, input) => {
      const { name, color, description, priority } = input
      requireValidLabel({ name, color })
      if (await findNamesake(tx, tx.subject, name)) {
        throw new DomainError({ code: 'conflict', reason: 'Label already exists' })
      }
      const fields = { name, color, description: description ?? undefined, priority: priority ?? undefined }
      const label = await insertLabel(tx, tx.subject, fields)
      await tx.recordEvent(eventOf('created', label))
      return label
    }),

    update: command({ name: `update${owner}Label`, input: updateLabelInput, ...writes }, async (tx, input) => {
      const { newName, color, description, priority } = input
      const before = await getLabel(tx, tx.subject, refOf(input), false)
      requireValidLabel({ name: newName, color })
      const name = newName ?? before.name
      if (name !== before.name && (await findNamesake(tx, tx.subject, name))) {
        throw invalid({ name: ['has already been taken'] })
      }
      const label = await updateLabel(tx, before.id, {
        name,
        color: color ?? before.color,
        description: description === undefined ? before.description : (description ?? undefined),
        priority: priority === undefined ? before.priority : (priority ?? undefined),
      })
      await tx.recordEvent(eventOf('updated', label))
      return label
    }),

    remove: command({ name: `remove${owner}Label`, input: removeLabelInput, ...writes }, async (tx, input) => {
      const label = await getLabel(tx, tx.subject, refOf(input), false)
      await deleteLabel(tx, label.id)
      await tx.recordEvent(eventOf('removed', label))
    }),
  }
}

/** Returns the reference to a label; the schema requires one of the two. */
const refOf = ({ labelId, name }: z.output<typeof removeLabelInput>) => labelId ?? name!

async function getLabel(
  context: ReadContext,
  subject: Subject,
  ref: number | string,
  inherited: boolean,
): Promise<DescribedLabel> {
  const label = await findLabel(context, { subject, withInherited: inherited }, ref)
  if (label === undefined) throw notFound('Label')
  return label
}

const findNamesake = (tx: Tx, subject: Subject, name: string) => findLabel(tx, { subject, withInherited: true }, name)

/** Rejects an invalid name or color. @throws DomainError `invalid` */
function requireValidLabel(attributes: Parameters<typeof validateLabel>[0]): void {
  const problems = validateLabel(attributes)
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

function eventOf(what: 'created' | 'updated' | 'removed', { id, groupId, projectId, name }: Label): DomainEvent {
  const owner = { ...(groupId !== undefined && { groupId }), ...(projectId !== undefined && { projectId }) }
  return { type: `label.${what}`, objectId: id, ...owner, details: { name } }
}
