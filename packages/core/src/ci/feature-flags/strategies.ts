import { invalid, notFound } from '../../base/kit/domain-error.ts'
import { takeIids } from '../../base/kit/internal-id.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { MAX_SCOPES, MAX_STRATEGIES, type Strategy, type StrategyInput } from './feature-flag.ts'
import { userListsById } from './feature-flag-store.ts'
import { MAX_XIDS_LENGTH, xidsProblem } from './user-list.ts'

type Parameters = Strategy['parameters']
type Check = (parameters: Parameters) => readonly (string | undefined | false)[]

const stickinesses: readonly string[] = ['default', 'userId', 'sessionId', 'random']
const isPercentage = (text: string | undefined) => /^\d{1,3}$/.test(text ?? '') && Number(text) <= 100
const groupProblem = ({ groupId = '' }: Parameters) => !/^[a-z]{1,32}$/.test(groupId) && 'groupId parameter is invalid'

/** The strategies by name, with the names of their parameters and the check of their values. */
const strategyTable: ReadonlyMap<string, { readonly names: readonly string[]; readonly check?: Check }> = new Map([
  ['default', { names: [] }],
  ['gitlabUserList', { names: [] }],
  ['userWithId', { names: ['userIds'], check: ({ userIds = '' }: Parameters) => [xidsProblem(userIds, 'userIds')] }],
  [
    'gradualRolloutUserId',
    {
      names: ['groupId', 'percentage'],
      check: (parameters: Parameters) => [
        !isPercentage(parameters.percentage) && 'percentage must be a string between 0 and 100 inclusive',
        groupProblem(parameters),
      ],
    },
  ],
  [
    'flexibleRollout',
    {
      names: ['groupId', 'rollout', 'stickiness'],
      check: (parameters: Parameters) => [
        !stickinesses.includes(parameters.stickiness ?? '') &&
          'stickiness parameter must be default, userId, sessionId, or random',
        groupProblem(parameters),
        !isPercentage(parameters.rollout) && 'rollout must be a string between 0 and 100 inclusive',
      ],
    },
  ],
])

const scopeForm = /^[A-Za-z0-9_/\\${}. *-]{1,255}$/

/** An item that has no id yet if it is new. */
type Draft<Item> = Omit<Item, 'id'> & { readonly id: number | undefined }
type Scope = Strategy['scopes'][number]
type StrategyDraft = Draft<Omit<Strategy, 'scopes'>> & { readonly scopes: readonly Draft<Scope>[] }

/**
 * Returns the strategies after a change: those with a known id change or end, those without an id are new, and all others
 * stay.
 *
 * @throws DomainError `not_found` for an id that the flag does not have, `invalid` for a value that breaks a rule
 */
export async function strategiesAfter(
  tx: Tx,
  project: Project,
  former: readonly Strategy[],
  inputs: readonly StrategyInput[],
): Promise<Strategy[]> {
  const drafts = itemsAfter<StrategyDraft, StrategyInput>(former, inputs, changedStrategy)
  await validateStrategies(tx, project, drafts)
  const scopes = await withIds(
    tx,
    'feature_flag_scopes',
    drafts.flatMap((draft) => draft.scopes),
  )
  const strategies = await withIds(tx, 'feature_flag_strategies', drafts)
  return strategies.map((strategy) => ({ ...strategy, scopes: scopes.splice(0, strategy.scopes.length) }))
}

/** Returns the items after a change: those with a known id change or end, those without an id are new. @throws DomainError `not_found` */
function itemsAfter<
  Item extends { readonly id: number | undefined },
  Input extends { readonly id?: number | undefined; readonly Destroy?: boolean | undefined },
>(former: readonly Item[], inputs: readonly Input[], change: (before: Item | undefined, input: Input) => Item): Item[] {
  const items: (Item | undefined)[] = [...former]
  for (const input of inputs) {
    const index = input.id === undefined ? items.length : items.findIndex((item) => item?.id === input.id)
    if (index === -1) throw notFound()
    items[index] = input.Destroy ? undefined : change(items[index], input)
  }
  return items.filter((item) => item !== undefined)
}

/** Returns the items with new ids for those that have none. */
async function withIds<Item extends { readonly id: number | undefined }>(
  tx: Tx,
  kind: string,
  items: readonly Item[],
): Promise<(Item & { readonly id: number })[]> {
  const count = items.filter(({ id }) => id === undefined).length
  let next = count === 0 ? 0 : await takeIids(tx, 'instance', kind, count)
  return items.map((item) => ({ ...item, id: item.id ?? next++ }))
}

function changedStrategy(
  before: StrategyDraft | undefined,
  { name = before?.name ?? '', parameters = before?.parameters ?? {}, scopes = [], userListId }: StrategyInput,
): StrategyDraft {
  const listId = userListId ?? (name === 'gitlabUserList' ? before?.userListId : undefined)
  return {
    id: before?.id,
    name,
    parameters,
    scopes: itemsAfter(before?.scopes ?? [], scopes, (scope: Draft<Scope> | undefined, { environmentScope }) => ({
      id: scope?.id,
      environmentScope: environmentScope ?? scope?.environmentScope ?? '',
    })),
    ...(listId !== undefined && { userListId: listId }),
  }
}

async function validateStrategies(tx: Tx, project: Project, strategies: readonly StrategyDraft[]): Promise<void> {
  const lists = await userListsById(
    tx,
    project,
    strategies.flatMap(({ userListId }) => userListId ?? []),
  )
  const problems = strategies.flatMap((each) => problemsOf(each, (id) => lists.has(id)))
  if (strategies.length > MAX_STRATEGIES) problems.push(`are too many (maximum is ${MAX_STRATEGIES})`)
  if (JSON.stringify(strategies).length > 2 * MAX_XIDS_LENGTH) problems.push('are too long')
  if (problems.length > 0) throw invalid({ strategies: [...new Set(problems)] })
}

function problemsOf(
  { name, parameters, scopes, userListId }: StrategyDraft,
  isList: (id: number) => boolean,
): string[] {
  const kind = strategyTable.get(name)
  if (kind === undefined) return ['name strategy name is invalid']
  const names = Object.keys(parameters).sort()
  const isComplete = names.length === kind.names.length && kind.names.every((each, index) => each === names[index])
  const values = isComplete ? (kind.check?.(parameters) ?? []) : ['are invalid']
  const scopeNames = scopes.map(({ environmentScope }) => environmentScope)
  return [
    ...values.flatMap((problem) => (problem ? [`parameters ${problem}`] : [])),
    ...(name === 'gitlabUserList' && userListId === undefined ? ["user list can't be blank"] : []),
    ...(name !== 'gitlabUserList' && userListId !== undefined ? ['user list must be blank'] : []),
    ...(userListId !== undefined && !isList(userListId) ? ['user list must belong to the same project'] : []),
    ...(scopeNames.some((each) => !scopeForm.test(each)) ? ['scopes environment scope is invalid'] : []),
    ...(new Set(scopeNames).size < scopeNames.length ? ['scopes environment scope has already been taken'] : []),
    ...(scopes.length > MAX_SCOPES ? [`scopes are too many (maximum is ${MAX_SCOPES})`] : []),
  ]
}
