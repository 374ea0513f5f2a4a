import { forbidden, invalid } from '../kit/domain-error.ts'
import type { Visibility } from '../model/access-level.ts'
import { isMoreOpen } from '../model/group.ts'
import type { OperationContext } from '../operations/context.ts'
import { settingOf } from './setting-of.ts'

/**
 * Returns the visibility of a new group or project: the requested one, or else the default of the instance. The default
 * is reduced to the visibility of the group that contains the new one.
 *
 * @throws DomainError `invalid` if the actor may not give that visibility
 */
export async function newVisibility(
  context: OperationContext,
  wanted: Visibility | undefined,
  { kind, within }: { readonly kind: 'group' | 'project'; readonly within: Visibility | undefined },
): Promise<Visibility> {
  await requireUnrestricted(context, wanted)
  if (wanted !== undefined) return wanted
  const usual = await settingOf(context.core, `default_${kind}_visibility`)
  return within !== undefined && isMoreOpen(usual, within) ? within : usual
}

/** Rejects a visibility that only administrators may give. @throws DomainError `invalid` */
export async function requireUnrestricted(
  { core, actor }: OperationContext,
  visibility: Visibility | undefined,
): Promise<void> {
  if (visibility === undefined || actor?.isAdministrator === true) return
  if (!(await settingOf(core, 'restricted_visibility_levels')).includes(visibility)) return
  throw invalid({ visibilityLevel: [`${visibility} has been restricted by your administrator`] })
}

/** Rejects callers that may not create top-level groups on this instance. @throws DomainError `forbidden` */
export async function requireTopLevelGroups({ core, actor }: OperationContext): Promise<void> {
  if (actor?.isAdministrator === true) return
  if (!(await settingOf(core, 'top_level_group_creation_enabled'))) throw forbidden()
}
