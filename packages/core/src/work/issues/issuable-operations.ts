import { z } from 'zod'
import { invalid } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor, User } from '../../base/model/user.ts'
import type { InProject, OperationContext, Tx } from '../../base/operations/context.ts'
import { command, query, steps } from '../../base/operations/operation.ts'
import { type RecordedKind, recordChange } from '../../base/operations/record-change.ts'
import {
  explicitSubscriptions,
  setSubscription as storeSubscription,
} from '../../base/operations/subscription-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { durationSeconds, MAX_DURATION_SECONDS } from './duration.ts'
import type { DescribedIssuable, Issuable, ShownIssuable } from './issuable.ts'
import type { IssuableTables } from './issuable-tables.ts'
import { participantsOf, type Subscribable, subscribedItems } from './participants.ts'
import { estimateSeconds } from './time-estimate.ts'
import { insertTimeLog, setTimeEstimate } from './time-log-store.ts'

/** The differences between issues and merge requests in the operations below. */
interface IssuableKind<Key extends string, Item extends DescribedIssuable & Subscribable, Shown> {
  /** `Issue` for `subscribeToIssue`. */
  readonly noun: string
  /** The parameter that identifies an item within its project. */
  readonly key: Key
  readonly tables: IssuableTables
  readonly read: 'read_issue' | 'read_merge_request'
  readonly subscribe: 'subscribe_issue' | 'subscribe_merge_request'
  /** The permission that is required to track time. */
  readonly change: 'update_issue' | 'update_merge_request'
  get(context: ReadContext, actor: Actor, project: Project, iid: number): Promise<Item>
  /** Returns the item in the form that a request for a single item gets. Called outside of transactions. */
  show(context: ReadContext & OperationContext, project: Project, item: Item): Promise<Shown>
  readonly events: RecordedKind<Item>
}

export type TimeStats = Pick<Issuable, 'timeEstimateSeconds' | 'timeSpentSeconds'>

/**
 * An item after a request to change the actor's subscription. `isUnchanged`: the subscription already was as requested.
 */
export type WithSubscription<Shown> = Shown & { readonly isUnchanged: boolean }

/** Returns the operations on participants, subscriptions and time of issues or of merge requests. */
export function issuableOperations<
  Key extends string,
  Item extends DescribedIssuable & Subscribable,
  Shown extends ShownIssuable<DescribedIssuable>,
>(kind: IssuableKind<Key, Item, Shown>) {
  const { noun, key, tables, read, subscribe, change } = kind
  type One = { readonly project: number | string } & { readonly [Name in Key]: number }
  const one = { project: namespaceRef, [key]: z.int() }
  // The computed key is any text to TypeScript.
  const inputOf = <More extends z.ZodRawShape>(more: More) =>
    z.object({ ...one, ...more }) as unknown as z.ZodType<One & z.output<z.ZodObject<More>>>
  const subject = (context: ReadContext, { project }: One) => getProject(context, project)
  const onOne = (name: string, permission: typeof read | typeof subscribe | typeof change) => ({
    name,
    input: inputOf({}),
    permission,
    subject,
  })
  const getOne = (context: InProject, input: { readonly [Name in Key]: number }) =>
    kind.get(context, context.actor, context.subject, input[key])

  const listParticipants = query(
    { ...onOne(`listParticipantsOf${noun}`, read), input: inputOf(pageInput), caller: 'anyone' },
    async (context, input): Promise<Page<User>> => {
      const { page, perPage } = input
      const people = participantsOf(await getOne(context, input))
      const from = (page - 1) * perPage
      const items = people.slice(from, from + perPage)
      return { items, page, perPage, hasNext: people.length > from + perPage, total: people.length }
    },
  )

  const subscription = (name: string, isSubscribed: boolean) =>
    steps(onOne(name, subscribe), async (context, input): Promise<WithSubscription<Shown>> => {
      const { item, isUnchanged } = await context.write(async (tx) => {
        const item = await getOne({ ...tx, subject: context.subject }, input)
        const isUnchanged = (await subscribedItems(tx, tables, tx.actor, [item])).has(item.id) === isSubscribed
        // A user who only watches the item has no subscription, but can unsubscribe from the mails about it.
        const isWatcherUnsubscribing =
          !isSubscribed && !(await explicitSubscriptions(tx, tables, tx.actor!.id, [item.id])).has(item.id)
        if (!isUnchanged || isWatcherUnsubscribing) {
          await storeSubscription(tx, tables, item.id, tx.actor!.id, isSubscribed)
          await recordChange(tx, kind.events, isSubscribed ? 'subscribed' : 'unsubscribed', {
            ...{ before: item, after: item, projectId: context.subject.id },
          })
        }
        return { item, isUnchanged }
      })
      return { ...(await kind.show(context, context.subject, item)), isUnchanged }
    })

  const getTimeStats = query(
    { ...onOne(`getTimeStatsOf${noun}`, read), caller: 'anyone' },
    (context, input): Promise<TimeStats> => getOne(context, input),
  )

  const timeChange = <More extends z.ZodRawShape>(
    name: string,
    more: More,
    apply: (tx: Tx & OperationContext, item: Item, input: z.output<z.ZodObject<More>>) => Promise<void>,
  ) =>
    command({ ...onOne(name, change), input: inputOf(more) }, async (tx, input): Promise<TimeStats> => {
      const before = await getOne(tx, input)
      await apply(tx, before, input)
      const after = await getOne(tx, input)
      await recordChange(tx, kind.events, 'updated', { before, after, projectId: tx.subject.id })
      return after
    })

  const setEstimate = timeChange(`setEstimateOf${noun}`, { duration: z.string().max(255) }, async (tx, item, input) => {
    await setTimeEstimate(tx, tables, item.id, estimateSeconds(input.duration))
  })
  const resetEstimate = timeChange(`resetEstimateOf${noun}`, {}, (tx, item) => setTimeEstimate(tx, tables, item.id, 0))

  const addSpentTime = timeChange(
    `addSpentTimeTo${noun}`,
    { duration: z.string().max(255), summary: z.string().max(255).optional() },
    async (tx, item, { duration, summary }) => {
      const seconds = durationSeconds(duration)
      if (seconds === undefined || seconds === 0) throw invalid({ duration: ['must have a valid format'] })
      const total = item.timeSpentSeconds + seconds
      if (total < 0) throw invalid({ base: ['Time to subtract exceeds the total time spent'] })
      if (total > MAX_DURATION_SECONDS) throw invalid({ base: ['Total time spent is too long'] })
      await insertTimeLog(tx, tables, item.id, { seconds, summary, userId: tx.actor!.id })
    },
  )
  const resetSpentTime = timeChange(`resetSpentTimeOf${noun}`, {}, async (tx, item) => {
    const seconds = -item.timeSpentSeconds
    if (seconds !== 0) await insertTimeLog(tx, tables, item.id, { seconds, summary: undefined, userId: tx.actor!.id })
  })

  return {
    listParticipants,
    subscribe: subscription(`subscribeTo${noun}`, true),
    unsubscribe: subscription(`unsubscribeFrom${noun}`, false),
    getTimeStats,
    setEstimate,
    resetEstimate,
    addSpentTime,
    resetSpentTime,
  }
}
