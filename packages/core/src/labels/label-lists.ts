import type { Subject } from '../access/subject.ts'
import { listedEach } from '../kit/listing.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import { descriptionsOfEach } from '../operations/description-store.ts'
import { batchQuery } from '../operations/operation.ts'
import { type Label, labelOfEachInput, labelsOfEachGroupInput, labelsOfEachInput } from './label.ts'
import { labelListing, labelOfEach } from './label-store.ts'

export const listLabelsOfEachProject = batchQuery(
  { name: 'listLabelsOfEachProject', input: labelsOfEachInput, permission: 'read_label' },
  async (context, projects: readonly Project[], { includeAncestorGroups: withInherited, ...filter }) => {
    const filters = projects.map((subject) => ({ ...filter, subject, withInherited }))
    return listedEach(labelListing(context, context.actor, filters), projects.length)
  },
)

export const listLabelsOfEachGroup = batchQuery(
  { name: 'listLabelsOfEachGroup', input: labelsOfEachGroupInput, permission: 'read_label' },
  async (
    context,
    groups: readonly Group[],
    { includeAncestorGroups: withInherited, includeDescendantGroups: withGroups, onlyGroupLabels, ...filter },
  ) => {
    const below = { withGroups, withProjects: !onlyGroupLabels }
    const filters = groups.map((subject) => ({ ...filter, subject, withInherited, below }))
    return listedEach(labelListing(context, context.actor, filters), groups.length)
  },
)

/** Finds the label with a name that can be used in each group or project. */
export const findLabelOfEach = batchQuery(
  { name: 'findLabelOfEach', input: labelOfEachInput, permission: 'read_label' },
  (context, subjects: readonly Subject[], { title }) => labelOfEach(context, subjects, title),
)

export const descriptionsOfEachLabel = descriptionsOfEach<Label>('descriptionsOfEachLabel', 'labels')
