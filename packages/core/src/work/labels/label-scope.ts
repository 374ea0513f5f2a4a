import type { z } from 'zod'
import type { Subject } from '../../base/access/subject.ts'
import type { listLabelsInput } from './label.ts'
import type { LabelFilter } from './label-store.ts'

/**
 * Returns the labels that a list of a group or project shows. The parameters for labels of subgroups and projects below
 * apply to groups only.
 */
export function labelScopeOf(
  parent: Subject,
  {
    search,
    includeAncestorGroups: above,
    includeDescendantGroups: groupsBelow,
    onlyGroupLabels,
  }: z.output<typeof listLabelsInput>,
): LabelFilter {
  const projectsBelow = onlyGroupLabels ? undefined : groupsBelow ? 'all' : 'direct'
  return { parent, above, search, ...(parent.kind === 'group' && { groupsBelow, projectsBelow }) }
}
