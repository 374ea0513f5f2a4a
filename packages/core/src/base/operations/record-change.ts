import { isDeepStrictEqual } from 'node:util'
import { clientNameOf, type FieldTable, type ObjectOf } from '../kit/field-table.ts'
import type { Tx } from './context.ts'
import type { Changes, DomainEvent } from './event.ts'

/** Functions that return the values that events compare, by name in camelCase. A missing value is `undefined`. */
export type Compared<Thing> = Readonly<Record<string, (thing: Thing) => unknown>>

/** Describes the events of one kind of thing. */
export interface RecordedKind<Thing extends { readonly id: number }> {
  /** The first part of the types: `milestone` for `milestone.created`. */
  readonly noun: string
  /** The values that listeners get before and after a change. Secrets must not be among them. */
  readonly compared: Compared<Thing>
  /** The data that is stored because it cannot be looked up later. */
  readonly detailsOf?: (thing: Thing) => Readonly<Record<string, unknown>>
}

/**
 * A thing before and after a change, with its project or group. If `before` is missing, the thing was created. If
 * `after` is missing, it was removed. `details` replaces the details that its `RecordedKind` would give.
 */
type Change<Thing> = Pick<DomainEvent, 'projectId' | 'groupId' | 'details'> &
  ({ readonly before: Thing; readonly after?: Thing } | { readonly before?: undefined; readonly after: Thing })

/**
 * Records that a thing was created, changed or removed. Listeners get the values that differ; if it was created or removed,
 * these are all of its values.
 */
export const recordChange = <Thing extends { readonly id: number }>(
  { recordEvent }: Pick<Tx, 'recordEvent'>,
  kind: RecordedKind<Thing>,
  what: string,
  change: Change<Thing>,
): Promise<void> => recordEvent(changeEvent(kind, what, change))

/** Returns the event that `recordChange` records. */
export function changeEvent<Thing extends { readonly id: number }>(
  { noun, compared, detailsOf }: RecordedKind<Thing>,
  what: string,
  { before, after, ...rest }: Change<Thing>,
): DomainEvent {
  const thing = (after ?? before)!
  return {
    type: `${noun}.${what}`,
    objectId: thing.id,
    ...(detailsOf && { details: detailsOf(thing) }),
    ...rest,
    changes: changesBetween(compared, before, after),
  }
}

/** Returns the values that differ, by name. A missing value, and every value of a missing thing, is null. */
export function changesBetween<Thing>(
  compared: Compared<Thing>,
  before: Thing | undefined,
  after: Thing | undefined,
): Changes {
  const valueIn = (thing: Thing | undefined, value: (thing: Thing) => unknown) =>
    thing === undefined ? null : (value(thing) ?? null)
  const changes: Record<string, Changes[string]> = {}
  for (const [name, value] of Object.entries(compared)) {
    const [previous, current] = [valueIn(before, value), valueIn(after, value)]
    if (!isDeepStrictEqual(previous, current)) changes[name] = { previous, current }
  }
  return changes
}

/** Returns the comparison of all fields of a table, except secrets. Times keep the `Ms` of their key. */
export function comparedFields<Fields extends FieldTable>(fields: Fields): Compared<ObjectOf<Fields>> {
  const open = Object.entries(fields).filter(([, { details }]) => !details.isSecret)
  return Object.fromEntries(
    open.map(([key, field]) => {
      const name = field.details.type === 'time' ? key : clientNameOf(key, field)
      return [name, (thing: ObjectOf<Fields>) => thing[key]]
    }),
  )
}

/** Returns the comparison of some members of an object, by their names. */
export const comparedMembers =
  <Thing>() =>
  <Name extends keyof Thing & string>(...names: readonly Name[]): Compared<Thing> =>
    Object.fromEntries(names.map((name) => [name, (thing: Thing) => thing[name]]))

/** Returns the comparison of an object that is a member of the compared thing. */
export const comparedWithin = <Thing, Key extends keyof Thing>(
  key: Key,
  compared: Compared<Thing[Key]>,
): Compared<Thing> =>
  Object.fromEntries(Object.entries(compared).map(([name, value]) => [name, (thing: Thing) => value(thing[key])]))
