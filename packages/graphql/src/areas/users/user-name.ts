import { shownNamesOfUsers, type User } from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'

/** Returns the name to show. Names of people are public; the core decides about the names of bots. */
export const shownName = async (context: RequestContext, user: User): Promise<string> =>
  user.isBot ? await loadBatched(context, shownNamesOfUsers, user) : user.name
