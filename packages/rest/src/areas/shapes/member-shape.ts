import type { Member } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'

/** A member. The field `id` is the id of the user. */
export const memberShape: Shape<Member> = {
  schema: basicUserShape.schema
    .extend({
      access_level: z.int(),
      created_at: z.string(),
      created_by: basicUserShape.schema.optional(),
      expires_at: z.string().nullable(),
      membership_state: z.literal('active'),
    })
    .meta({ id: 'Member' }),
  of: ({ user, level, createdAtMs, createdBy, expiresAt }, context) => ({
    ...basicUserShape.of(user, context),
    access_level: level,
    created_at: isoTime(createdAtMs),
    ...(createdBy !== undefined && { created_by: basicUserShape.of(createdBy, context) }),
    expires_at: expiresAt ?? null,
    membership_state: 'active',
  }),
}
