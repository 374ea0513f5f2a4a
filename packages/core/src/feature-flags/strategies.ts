import { invalid, notFound } from '../kit/domain-error.ts'
import { nextIid } from '../kit/internal-id.ts'
import type { Project } from '../model/project.ts'
import type { Tx } from '../operations/context.ts'
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
  const after = new Map<number, Strategy | undefined>(former.map((each) => [each.id, each]))
  for (const input of inputs) {
    const before = input.id === undefined ? undefined : after.get(input.id)
    if (input.id !== undefined && before === undefined) throw notFound()
    const id = before?.id ?? (await nextIid(tx, 'instance', 'feature_flag_strategies'))
    after.set(id, input.Destroy ? undefined : await changedStrategy(tx, { id, ...before }, input))
  }
  const strategies = [...after.values()].filter((each) => each !== undefined)
  await validateStrategies(tx, project, strategies)
  return strategies
}

async function changedStrategy(
  tx: Tx,
  before: Partial<Strategy> & Pick<Strategy, 'id'>,
  { name = before.name ?? '', parameters = before.parameters ?? {}, scopes = [], userListId }: StrategyInput,
): Promise<Strategy> {
  const after = new Map<number, Strategy['scopes'][number] | undefined>(
    (before.scopes ?? []).map((each) => [each.id, each]),
  )
  for (const { id: given, environmentScope, Destroy: ends } of scopes) {
    const scope = given === undefined ? undefined : after.get(given)
    if (given !== undefined && scope === undefined) throw notFound()
    const id = given ?? (await nextIid(tx, 'instance', 'feature_flag_scopes'))
    after.set(id, ends ? undefined : { id, environmentScope: environmentScope ?? scope?.environmentScope ?? '' })
  }
  const listId = userListId ?? (name === 'gitlabUserList' ? before.userListId : undefined)
  return {
    id: before.id,
    name,
    parameters,
    scopes: [...after.values()].filter((each) => each !== undefined),
    ...(listId !== undefined && { userListId: listId }),
  }
}

async function validateStrategies(tx: Tx, project: Project, strategies: readonly Strategy[]): Promise<void> {
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

function problemsOf({ name, parameters, scopes, userListId }: Strategy, isList: (id: number) => boolean): string[] {
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
