import type { Subject } from '../../base/access/subject.ts'
import { listedEach } from '../../base/kit/listing.ts'
import { descriptionsOfEach } from '../../base/operations/description-store.ts'
import { batchQuery } from '../../base/operations/operation.ts'
import { type Label, labelOfEachInput, labelsOfEachInput } from './label.ts'
import { labelListing, labelOfEach } from './label-store.ts'

/**
 * Lists the labels of each group or project. The parameters for labels of subgroups and projects below apply to groups
 * only.
 */
export const listLabelsOfEach = batchQuery(
  { name: 'listLabelsOfEach', input: labelsOfEachInput, permission: 'read_label' },
  async (context, parents: readonly Subject[], input) => {
    const { includeAncestorGroups: above, includeDescendantGroups: groupsBelow, onlyGroupLabels, ...filter } = input
    const projectsBelow = onlyGroupLabels ? undefined : groupsBelow ? 'all' : 'direct'
    const filters = parents.map((parent) => ({ ...filter, parent, above, groupsBelow, projectsBelow }) as const)
    return listedEach(labelListing(context, filters), parents.length)
  },
)

/** Finds, for each group or project, the label with the given name that can be used there. */
export const findLabelOfEach = batchQuery(
  { name: 'findLabelOfEach', input: labelOfEachInput, permission: 'read_label' },
  (context, subjects: readonly Subject[], { title }) => labelOfEach(context, subjects, title),
)

export const descriptionsOfEachLabel = descriptionsOfEach<Label>('descriptionsOfEachLabel', 'labels')
