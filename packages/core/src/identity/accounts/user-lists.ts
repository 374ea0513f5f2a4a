import { z } from 'zod'
import { forbidden } from '../../base/kit/domain-error.ts'
import { keysetInput, mapKeysetPage, mapPage, pageInput } from '../../base/kit/page.ts'
import { instant } from '../../base/kit/parameter-schemas.ts'
import type { User } from '../../base/model/user.ts'
import { unscopedQuery } from '../../base/operations/operation.ts'
import { withShownNames } from '../users/shown-names.ts'
import { pageOfUsers, userOrders } from '../users/user-list-store.ts'
import { profileOf } from '../users/user-profile.ts'
import { mayListUsers } from './known-users.ts'

export const listUsers = unscopedQuery(
  {
    name: 'listUsers',
    caller: 'anyone',
    input: z.object({
      username: z.string().max(255).optional(),
      search: z.string().max(255).optional(),
      active: z.boolean().optional(),
      blocked: z.boolean().optional(),
      admins: z.boolean().optional(),
      humans: z.boolean().optional(),
      withoutProjectBots: z.boolean().optional(),
      createdAfter: instant.optional(),
      createdBefore: instant.optional(),
      /** Only for administrators, like the next two parameters. */
      external: z.boolean().optional(),
      withoutProjects: z.boolean().optional(),
      twoFactor: z.enum(['enabled', 'disabled']).optional(),
      excludeActive: z.boolean().optional(),
      excludeExternal: z.boolean().optional(),
      excludeHumans: z.boolean().optional(),
      publicEmail: z.string().max(255).optional(),
      /**
       * A value matches no user, as with the next three parameters: no user has an account of another service, or is an
       * auditor.
       */
      externUid: z.string().max(255).optional(),
      provider: z.string().max(255).optional(),
      samlProviderId: z.int().optional(),
      auditors: z.boolean().optional(),
      orderBy: z.enum(userOrders).default('id'),
      sort: z.enum(['asc', 'desc']).default('desc'),
      idAfter: z.int().optional(),
      idBefore: z.int().optional(),
      ...keysetInput,
      ...pageInput,
    }),
  },
  async (context, input) => {
    const { actor } = context
    // Callers without a sign-in, and bots, can check whether a user exists, but cannot list users.
    if (!mayListUsers(actor) && !input.username) throw forbidden()
    const isAdministrator = actor?.isAdministrator === true
    if (!isAdministrator && (input.external || input.withoutProjects || input.twoFactor !== undefined))
      throw forbidden()
    const isEmpty =
      input.twoFactor === 'enabled' ||
      input.auditors ||
      Boolean(input.externUid || input.provider) ||
      input.samlProviderId !== undefined
    const filter = {
      ...input,
      ids: isEmpty ? [] : undefined,
      publicEmail: input.publicEmail || undefined,
      isExternal: input.external || undefined,
      username: input.username || undefined,
      search: input.search || undefined,
      viewer: actor,
      allEmails: isAdministrator,
      isActive: input.active,
      isBlocked: input.blocked,
      isAdministrator: isAdministrator && input.admins,
      isBot: input.humans || input.withoutProjectBots ? false : input.excludeHumans || undefined,
      createdAfterMs: input.createdAfter,
      createdBeforeMs: input.createdBefore,
    }
    const order = { by: input.orderBy, direction: input.sort }
    const page = await pageOfUsers(context, filter, order, input, input.pagination === 'keyset')
    const shown = new Map((await withShownNames(context, actor, page.items)).map((user) => [user.id, user]))
    const profile = ({ id }: User) => profileOf(shown.get(id)!, actor)
    return 'nextCursor' in page ? mapKeysetPage(page, profile) : mapPage(page, profile)
  },
)
