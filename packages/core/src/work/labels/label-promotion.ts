import { requirePermission } from '../../base/access/subject.ts'
import { refused } from '../../base/git/commit-actions.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { parentIds } from '../../base/model/parent.ts'
import { command } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getGroup } from '../../identity/groups/group-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { labelEvents, labelInput } from './label.ts'
import { mergeIntoGroupLabel } from './label-merge-store.ts'
import { findLabel, insertLabel } from './label-store.ts'
import { type ShownLabel, withSubscriptions } from './label-subscriptions.ts'

/**
 * Replaces a label of a project, and the labels with the same name in the other projects of its group, by a label of the
 * group. The group's own label with that name is used if there is one.
 */
export const promoteProjectLabel = command(
  {
    name: 'promoteProjectLabel',
    input: labelInput.omit({ includeAncestorGroups: true }),
    permission: 'admin_label',
    subject: (context, { parent }) => getProject(context, parent),
  },
  async (tx, { labelId }): Promise<ShownLabel> => {
    const { groupId } = tx.subject
    if (groupId === undefined) throw refused('Failed to promote project label to group label')
    const group = await getGroup(tx, groupId)
    await requirePermission(tx, group, 'admin_label')
    const label = await findLabel(tx, { parent: tx.subject, above: false }, labelId)
    if (label === undefined) throw notFound('Label')
    const existing = await findLabel(tx, { parent: group, above: true }, label.name)
    if (existing !== undefined && existing.groupId !== group.id)
      throw refused('Validation failed: Title has already been taken')
    const promoted = existing ?? (await insertLabel(tx, group, label))
    if (existing === undefined) await recordChange(tx, labelEvents, 'created', { after: promoted, ...parentIds(group) })
    for (const before of await mergeIntoGroupLabel(tx, group, promoted)) {
      await recordChange(tx, labelEvents, 'removed', { before, projectId: before.projectId! })
    }
    await recordChange(tx, labelEvents, 'promoted', { before: label, after: promoted, ...parentIds(tx.subject) })
    const [shown] = await withSubscriptions(tx, [promoted])
    return shown!
  },
)
