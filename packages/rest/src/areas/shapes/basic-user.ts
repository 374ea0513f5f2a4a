import { avatarPath, type User, userStates } from '@penstock/core'
import { z } from 'zod'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { avatarUrl } from './avatar-url.ts'

const states = [...userStates, 'ldap_blocked', 'blocked_pending_approval'] as const

/** A user as embedded in other resources. */
export const basicUserShape = {
  schema: z
    .object({
      id: z.int(),
      username: z.string(),
      public_email: z.string().nullable(),
      name: z.string(),
      state: z.enum(states),
      locked: z.boolean(),
      avatar_url: z.string().nullable(),
      web_url: z.string(),
    })
    .meta({ id: 'BasicUser' }),
  of: (user: Pick<User, 'id' | 'username' | 'publicEmail' | 'name' | 'state' | 'avatar'>, context: JsonContext) => ({
    id: user.id,
    username: user.username,
    public_email: user.publicEmail ?? null,
    name: user.name,
    state: user.state,
    // Accounts are never locked automatically; a block by an administrator shows in `state`.
    locked: false,
    avatar_url: avatarUrl(avatarPath('user', user), context),
    web_url: `${context.externalUrl}/${user.username}`,
  }),
} satisfies Shape<User>
