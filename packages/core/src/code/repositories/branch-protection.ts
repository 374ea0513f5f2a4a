import type { Standing } from '../../base/access/can.ts'
import { can } from '../../base/access/can.ts'
import { forbidden } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { settingsFrom } from '../../base/kit/stored-settings.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { groupSettings } from '../../base/model/group-settings.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { settingsOf } from '../../base/settings/setting-of.ts'

/** The rights of Developers on the default branch. Maintainers may push and merge in any case. */
interface BranchRules {
  readonly isProtected: boolean
  readonly developersPush: boolean
  readonly developersMerge: boolean
  /** Whether Developers may push the first commit of the repository. */
  readonly developersPushFirst: boolean
}

const unprotected: BranchRules = {
  isProtected: false,
  developersPush: true,
  developersMerge: true,
  developersPushFirst: true,
}
const maintainersOnly: BranchRules = {
  isProtected: true,
  developersPush: false,
  developersMerge: false,
  developersPushFirst: false,
}

/** The rules of each value of `default_branch_protection`, from 0. */
const rulesByValue: readonly BranchRules[] = [
  unprotected,
  { ...unprotected, isProtected: true },
  maintainersOnly,
  { ...maintainersOnly, developersMerge: true },
  { ...maintainersOnly, developersPushFirst: true },
]

type RulesContext = ReadContext & Pick<OperationContext, 'core'>

/**
 * Returns the rules of the default branch of each project, by project id: those of its group, or of the instance if the project
 * belongs to a user or groups may not set their own. Makes at most one query.
 */
export async function defaultBranchRulesByProject(
  context: RulesContext,
  projects: readonly Pick<Project, 'id' | 'groupId'>[],
): Promise<ReadonlyMap<number, BranchRules>> {
  const settings = await settingsOf(context.core)
  const ownRules = settings.group_owners_can_manage_default_branch_protection
    ? await protectionsOfGroups(
        context,
        projects.flatMap(({ groupId }) => groupId ?? []),
      )
    : new Map<number, number>()
  const protectionOf = ({ groupId = 0 }: Pick<Project, 'groupId'>) =>
    ownRules.get(groupId) ?? settings.default_branch_protection
  return new Map(projects.map((project) => [project.id, rulesByValue[protectionOf(project)] ?? maintainersOnly]))
}

async function protectionsOfGroups({ db }: ReadContext, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('groups')
    .select(['id', 'settings'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map((row) => [row.id, settingsFrom(groupSettings, row.settings).defaultBranchProtection]))
}

/** Returns the rules of the default branch of one project. */
export async function defaultBranchRules(context: RulesContext, project: Project): Promise<BranchRules> {
  return (await defaultBranchRulesByProject(context, [project])).get(project.id)!
}

/** A change of a branch, as far as the protection of branches depends on it. */
interface PlannedPush {
  readonly isDefault: boolean
  /** Whether it is the first commit of the repository. */
  readonly isFirst?: boolean
  /** Whether the former commits of the branch are no longer part of it. */
  readonly isForced?: boolean
}

const isMaintainer = ({ level, isAdministrator }: Standing): boolean =>
  isAdministrator || level >= accessLevels.maintainer

/** Returns whether an actor may change a branch. */
export function canPushTo(standing: Standing, rules: BranchRules, push: PlannedPush): boolean {
  if (!can(standing, 'push_code')) return false
  const { isDefault, isFirst = false, isForced = false } = push
  if (!isDefault || !rules.isProtected) return true
  if (isForced) return false
  return isMaintainer(standing) || rules.developersPush || (isFirst && rules.developersPushFirst)
}

/** Returns whether an actor may merge into a branch: everyone who may push to it, and others if the rules say so. */
export const canMergeInto = (standing: Standing, rules: BranchRules, branch: Pick<PlannedPush, 'isDefault'>): boolean =>
  canPushTo(standing, rules, branch) ||
  (rules.developersMerge && can(standing, 'push_code') && can(standing, 'read_merge_request'))

/** Rejects a change that the protection of the branch does not allow. @throws DomainError `forbidden` */
export type PushGuard = (push: PlannedPush) => void

/** Returns the guard for changes of the actor in the project. */
export async function pushGuard(
  context: RulesContext & { readonly subject: Project; readonly standing: Standing },
): Promise<PushGuard> {
  const rules = await defaultBranchRules(context, context.subject)
  return (push) => {
    if (!canPushTo(context.standing, rules, push)) throw forbidden('You are not allowed to push into this branch')
  }
}

/** The guard of changes that the service makes itself. */
export const noPushGuard: PushGuard = () => {}
