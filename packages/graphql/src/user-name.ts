import { shownNamesOfUsers, type User } from '@penstock/core'
import { ask, type RequestContext } from './request-context.ts'

/** Whoever is no bot is told by name to everybody. */
export const shownName = async (context: RequestContext, user: User): Promise<string> =>
  user.isBot ? await ask(context, shownNamesOfUsers, user) : user.name
