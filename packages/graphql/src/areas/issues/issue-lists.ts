import {
  countIssuesOfEachProject,
  type Issue,
  listAllIssues,
  listIssuesOfEachGroup,
  listIssuesOfEachProject,
  MAX_INTEGER,
} from '@penstock/core'
import type { InputShapeFromFields } from '@pothos/core'
import { GraphQLError } from 'graphql'
import { loadBatched, readOrNull } from '../../request/request-context.ts'
import { Connection } from '../../schema/connection.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { type Cost, lookup, withCost } from '../../schema/cost.ts'
import { orderIn } from '../../schema/enums.ts'
import type { GlobalIds } from '../../schema/global-id.ts'
import type { Kit } from '../../schema/kit.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import { refusedArgument } from '../../schema/refused-arguments.ts'
import type { ArgumentsMaker } from '../../schema/schema-types.ts'
import { iidIn, issuableTypes } from './issuable-types.ts'
import { issueEnums } from './issue-types.ts'

/** The cost of a lookup of issues. */
const issueLookup: Cost = { resolver: true, arguments: { labelName: 2 } }

/** Adds the fields that find, list and count issues. */
export function addIssueLists(kit: Kit): void {
  const { builder, globalIds } = kit
  const { sort, wantedState } = issueEnums(kit)
  const filters = issueFilters(kit)
  const ordered = (t: ArgumentsMaker) => ({
    state: t.arg({ type: wantedState }),
    sort: t.arg({ type: sort, defaultValue: 'created_at desc' }),
  })
  const places = (t: ArgumentsMaker) => ({ includeArchived: t.arg.boolean({ defaultValue: false }) })

  builder.objectType('IssueStatusCountsType', {
    fields: (t) => ({
      all: t.int({ resolve: ({ opened, closed }) => opened + closed }),
      opened: t.exposeInt('opened'),
      closed: t.exposeInt('closed'),
    }),
  })
  builder.objectFields(kit.connections.of('Issue'), (t) => ({
    weight: t.int({
      nullable: false,
      description: 'Total weight of the whole list',
      resolve: async (connection) => {
        const total = await connection.query('weight', (listing) => listing.sums('weight'))
        return Math.min(total, MAX_INTEGER)
      },
    }),
  }))

  const releaseTagWildcard = builder.enumType('ReleaseTagWildcardId', {
    values: { ANY: { value: 'any' }, NONE: { value: 'none' } } as const,
  })
  const released = (t: ArgumentsMaker) => ({
    releaseTag: t.arg.stringList({ description: 'Tags of releases to which the milestone belongs' }),
    releaseTagWildcardId: t.arg({ type: releaseTagWildcard }),
  })
  builder.objectFields('Project', (t) => ({
    issues: connectionField(kit, t, 'Issue', {
      cost: issueLookup,
      args: { ...filters(t), ...ordered(t), ...released(t) },
      list: (project, args, context) =>
        loadBatched(context, listIssuesOfEachProject, project, listInput(globalIds, args)),
    }),
    issue: t.field({
      type: 'Issue',
      description: 'The first issue that matches the filters',
      ...withCost(issueLookup),
      args: { ...filters(t), ...ordered(t), ...released(t) },
      resolve: async (project, args, context): Promise<Issue | undefined> => {
        const listed = await loadBatched(context, listIssuesOfEachProject, project, listInput(globalIds, args))
        return listed && (await new Connection(listed, { first: 1 }, context.loaders).page()).items[0]
      },
    }),
    issueStatusCounts: t.field({
      type: 'IssueStatusCountsType',
      ...withCost(lookup),
      args: filters(t),
      resolve: (project, args, context) =>
        loadBatched(context, countIssuesOfEachProject, project, filterInput(globalIds, args)),
    }),
  }))
  builder.objectFields('Group', (t) => ({
    issues: connectionField(kit, t, 'Issue', {
      cost: issueLookup,
      args: {
        ...filters(t),
        ...ordered(t),
        ...places(t),
        includeSubgroups: t.arg.boolean({ defaultValue: false }),
      },
      list: (group, { includeSubgroups, ...args }, context) =>
        loadBatched(context, listIssuesOfEachGroup, group, {
          ...listInput(globalIds, args),
          withSubgroups: includeSubgroups ?? false,
        }),
    }),
  }))
  builder.queryFields((t) => ({
    issues: connectionField(kit, t, 'Issue', {
      description: 'Experimental. At least one filter is required. Null for anonymous callers',
      cost: issueLookup,
      args: { ...filters(t), ...ordered(t), ...places(t) },
      list: (_root, args, context) => {
        const input = listInput(globalIds, args)
        requireFilter(input)
        return readOrNull(context, listAllIssues, input)
      },
    }),
  }))
}

/** Returns the filter arguments of all fields that find issues. */
function issueFilters(kit: Kit) {
  const { builder } = kit
  const { assigneeWildcard, milestoneWildcard, searchableField, subscriptionStatus } = issuableTypes(kit)
  const { type, negatedMilestoneWildcard } = issueEnums(kit)
  const negated = builder.inputType('NegatedIssueFilterInput', {
    fields: (t) => ({
      iids: t.stringList(),
      assigneeId: t.string(),
      assigneeUsernames: t.stringList(),
      authorUsername: t.stringList(),
      labelName: t.stringList(),
      milestoneTitle: t.stringList(),
      milestoneWildcardId: t.field({ type: negatedMilestoneWildcard }),
      types: t.field({ type: [type] }),
      myReactionEmoji: t.string(),
      releaseTag: t.stringList(),
    }),
  })
  const unioned = builder.inputType('UnionedIssueFilterInput', {
    fields: (t) => ({
      assigneeUsernames: t.stringList(),
      authorUsernames: t.stringList(),
      labelNames: t.stringList(),
    }),
  })
  return (t: ArgumentsMaker) => ({
    iid: t.arg.string(),
    iids: t.arg.stringList(),
    authorUsername: t.arg.string(),
    assigneeUsername: t.arg.string(),
    assigneeUsernames: t.arg.stringList(),
    assigneeId: t.arg.string(),
    assigneeWildcardId: t.arg({ type: assigneeWildcard }),
    confidential: t.arg.boolean(),
    labelName: t.arg({ type: ['String'], required: { list: false, items: false } }),
    milestoneTitle: t.arg({ type: ['String'], required: { list: false, items: false } }),
    milestoneWildcardId: t.arg({ type: milestoneWildcard }),
    types: t.arg({ type: [type] }),
    subscribed: t.arg({ type: subscriptionStatus }),
    createdAfter: t.arg({ type: 'Time' }),
    createdBefore: t.arg({ type: 'Time' }),
    updatedAfter: t.arg({ type: 'Time' }),
    updatedBefore: t.arg({ type: 'Time' }),
    closedAfter: t.arg({ type: 'Time' }),
    closedBefore: t.arg({ type: 'Time' }),
    dueAfter: t.arg({ type: 'Time' }),
    dueBefore: t.arg({ type: 'Time' }),
    search: t.arg.string(),
    in: t.arg({ type: [searchableField] }),
    not: t.arg({ type: negated }),
    or: t.arg({ type: unioned }),
    myReactionEmoji: t.arg.string(),
    crmContactId: t.arg.string(refusedArgument('there are no contacts')),
    crmOrganizationId: t.arg.string(refusedArgument('there are no contacts')),
  })
}

type Filters = InputShapeFromFields<ReturnType<ReturnType<typeof issueFilters>>>

interface ListArguments extends Filters {
  readonly state?: 'all' | 'opened' | 'closed' | 'locked' | null | undefined
  readonly sort?: Parameters<typeof orderIn>[0]
  readonly includeArchived?: boolean | null | undefined
  readonly releaseTag?: readonly string[] | null | undefined
  readonly releaseTagWildcardId?: 'any' | 'none' | null | undefined
}

function listInput(
  globalIds: GlobalIds,
  { state, sort, includeArchived, releaseTag, releaseTagWildcardId, ...filters }: ListArguments,
) {
  return {
    ...filterInput(globalIds, filters),
    ...omitNullish({ releaseTags: releaseTag, releaseTagWildcard: releaseTagWildcardId }),
    ...stateInput(state),
    ...orderIn(sort),
    nonArchived: includeArchived !== true,
  }
}

/** Returns the state filter. No issue has the state `locked`, so that value matches nothing. */
const stateInput = (state: ListArguments['state']) =>
  state === 'locked' ? { state: 'all', iids: [NO_IID] } : state == null ? {} : { state }

/** Converts the filter arguments to the names of the core's filter, without null values. */
function filterInput(globalIds: GlobalIds, args: Filters) {
  const { not, or } = args
  return omitNullish({
    iids: iidsIn(joined(args.iid, args.iids)),
    authorUsername: args.authorUsername,
    assigneeUsername: joined(args.assigneeUsername, args.assigneeUsernames),
    assigneeId: args.assigneeWildcardId ?? assigneeIn(globalIds, args.assigneeId),
    confidential: args.confidential,
    labels: textsIn(args.labelName),
    milestoneTitles: textsIn(args.milestoneTitle),
    milestoneWildcard: args.milestoneWildcardId,
    types: args.types,
    subscribed: args.subscribed,
    myReactionEmoji: args.myReactionEmoji,
    createdAfter: args.createdAfter,
    createdBefore: args.createdBefore,
    updatedAfter: args.updatedAfter,
    updatedBefore: args.updatedBefore,
    closedAfter: args.closedAfter,
    closedBefore: args.closedBefore,
    dueAfter: args.dueAfter,
    dueBefore: args.dueBefore,
    search: args.search,
    in: args.in?.length === 0 ? null : args.in && [...new Set(args.in)],
    not:
      not &&
      omitNullish({
        iids: iidsIn(not.iids),
        assigneeId: assigneeIn(globalIds, not.assigneeId),
        assigneeUsernames: not.assigneeUsernames,
        authorUsernames: not.authorUsername,
        labels: not.labelName,
        milestoneTitles: not.milestoneTitle,
        milestoneWildcard: not.milestoneWildcardId,
        types: not.types,
        myReactionEmoji: not.myReactionEmoji,
        releaseTags: not.releaseTag,
      }),
    or:
      or &&
      omitNullish({
        assigneeUsernames: or.assigneeUsernames,
        authorUsernames: or.authorUsernames,
        labels: or.labelNames,
      }),
  })
}

/** An iid that no issue has. */
const NO_IID = 0

/** Combines an argument for one value with an argument for several. */
const joined = (one: string | null | undefined, several: readonly string[] | null | undefined) =>
  one == null ? several : [one, ...(several ?? [])]

const iidsIn = (texts: readonly string[] | null | undefined) => texts?.map(iidIn)

const textsIn = (texts: readonly (string | null | undefined)[] | null | undefined) =>
  texts?.filter((text) => text != null)

/** Parses an assignee: a number, a Global ID, `none` or `any`. */
function assigneeIn(globalIds: GlobalIds, text: string | null | undefined): number | 'none' | 'any' | undefined {
  if (text == null) return undefined
  const word = text.toLowerCase()
  if (word === 'none' || word === 'any') return word
  return globalIds.numberInIdOrNumber(text, 'User')
}

const unfiltered = new Set(['orderBy', 'sort', 'nonArchived'])

/** @throws GraphQLError */
function requireFilter(input: Readonly<Record<string, unknown>>): void {
  const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
  if (Object.entries(input).some(([name, value]) => !unfiltered.has(name) && !isEmpty(value))) return
  throw new GraphQLError('At least one filter argument is required')
}
