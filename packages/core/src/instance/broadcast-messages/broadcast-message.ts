import { z } from 'zod'
import { errorTexts } from '../../base/kit/error-texts.ts'
import {
  changesOf,
  clientNameOf,
  flag,
  hasText,
  id,
  list,
  matches,
  maxCharacters,
  maxLength,
  newObject,
  type ObjectOf,
  oneOf,
  parametersOf,
  text,
  time,
  withInput,
} from '../../base/kit/field-table.ts'
import { clearable, instant } from '../../base/kit/parameter-schemas.ts'

const broadcastTypes = ['banner', 'notification'] as const
const broadcastThemes = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const
export type BroadcastTheme = (typeof broadcastThemes)[number]

/** The font colour that leaves the colour of text to the theme. */
export const DEFAULT_FONT = '#FFFFFF'

const DEFAULT_DURATION_MS = 3_600_000
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

const isColor = matches(/^(#([0-9a-f]{3}|[0-9a-f]{6}))?$/i, 'must be a valid color code')
/** A time zone can move a time out of the years with four digits. */
const isInYears = (ms: number) => (ms < FIRST_MS || ms > LAST_MS) && errorTexts.invalid
const targetLevel = z.literal([10, 15, 20, 25, 30, 40, 50])

/** The fields that an administrator sets. */
export const broadcastMessageDraft = {
  message: text('message').check(hasText, maxCharacters(10_000)),
  startsAtMs: time('starts_at_ms').check(isInYears),
  endsAtMs: time('ends_at_ms').check(isInYears),
  /** The background of notifications. */
  color: text('color').default('#E75E40').check(isColor),
  font: text('font').default(DEFAULT_FONT).check(isColor),
  /** The roles that see the message, on pages of groups and projects; all if empty. */
  targetAccessLevels: list('target_access_levels', targetLevel).default([]),
  /** The pages that show the message; all if missing. `*` matches any characters. */
  targetPath: text('target_path').check(maxLength(255)).optional(),
  broadcastType: oneOf('broadcast_type', broadcastTypes).default('banner'),
  /** The colours of banners. */
  theme: oneOf('theme', broadcastThemes).default('indigo'),
  dismissable: flag('dismissable').default(false),
}
export const broadcastMessageFields = { id: id(), ...broadcastMessageDraft, updatedAtMs: time('updated_at_ms') }

/** A message of administrators to everyone. */
export interface BroadcastMessage extends ObjectOf<typeof broadcastMessageFields> {}
export type BroadcastMessageDraft = ObjectOf<typeof broadcastMessageDraft>

/** Null means the default for a new message, and an error for a change. */
const times = { startsAt: clearable(instant), endsAt: clearable(instant) }
const one = { broadcastMessageId: z.int() }

export const broadcastMessageInput = z.object(one)
export const createBroadcastMessageInput = z.object({ ...parametersOf(broadcastMessageDraft), ...times })
export const updateBroadcastMessageInput = z.object({
  ...one,
  ...changesOf(broadcastMessageDraft, 'nullish'),
  ...times,
})

/** Returns a new message. It begins now and ends an hour after its beginning, unless the input says otherwise. */
export function newMessage(
  { startsAt, endsAt, ...input }: z.output<typeof createBroadcastMessageInput>,
  nowMs: number,
): BroadcastMessageDraft {
  const start = startsAt ?? nowMs
  const end = endsAt ?? Math.min(start + DEFAULT_DURATION_MS, LAST_MS)
  return withUniqueLevels(newObject(broadcastMessageDraft, { ...input, startsAt: start, endsAt: end }))
}

const defaults = newObject(broadcastMessageDraft, {})

/** Returns the message with the values of the input. Null restores a default; the times have none. */
export function changedMessage(
  before: BroadcastMessage,
  input: Omit<z.output<typeof updateBroadcastMessageInput>, 'broadcastMessageId'>,
): BroadcastMessage {
  const given: Readonly<Record<string, unknown>> = input
  const restored = Object.entries(broadcastMessageDraft).filter(
    ([key, field]) => field.details.type !== 'time' && given[clientNameOf(key, field)] === null,
  )
  return withUniqueLevels({
    ...withInput(broadcastMessageDraft, before, input),
    ...Object.fromEntries(restored.map(([key]) => [key, defaults[key as keyof BroadcastMessageDraft]])),
  })
}

const withUniqueLevels = <Message extends BroadcastMessageDraft>(message: Message): Message => ({
  ...message,
  targetAccessLevels: [...new Set(message.targetAccessLevels)],
})

/** Returns whether the message is shown at this time, on any page. */
export const isMessageActive = ({ startsAtMs, endsAtMs }: BroadcastMessage, nowMs: number): boolean =>
  startsAtMs <= nowMs && nowMs <= endsAtMs

/**
 * Returns whether a path is one of those that a pattern describes, ignoring letter case. Takes time in proportion to the lengths,
 * unlike a regular expression with many `.*`.
 */
export function matchesTargetPath(pattern: string | undefined, path: string): boolean {
  if (pattern === undefined || pattern.trim() === '') return true
  const [first = '', ...others] = pattern.toLowerCase().split('*')
  const text = path.toLowerCase()
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
