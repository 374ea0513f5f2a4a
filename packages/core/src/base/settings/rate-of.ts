import type { CallLimit } from '../operations/call-limit.ts'
import type { OperationContext } from '../operations/context.ts'
import { settingOf } from './setting-of.ts'
import type { NumberSetting } from './table/setting-table.ts'

type Count = Extract<CallLimit['count'], (context: never) => unknown>

/**
 * Returns the number of calls that a setting allows, for the limit of an operation.
 *
 * @param callers the callers that are limited. Default: all
 */
export const rateOf =
  (name: NumberSetting, callers: (context: OperationContext) => boolean = () => true): Count =>
  (context) =>
    callers(context) ? settingOf(context.core, name) : 0

export const isSignedIn = ({ actor }: OperationContext): boolean => actor !== undefined
export const isAnonymous = ({ actor }: OperationContext): boolean => actor === undefined
