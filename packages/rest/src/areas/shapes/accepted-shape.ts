import { z } from 'zod'
import type { Shape } from '../../routing/route.ts'

/** The body of a 202 response, which GitLab sends for removals that may still be in progress. */
export const acceptedShape: Shape<unknown> = {
  schema: z.object({ message: z.literal('202 Accepted') }).meta({ id: 'Accepted' }),
  of: () => ({ message: '202 Accepted' }),
}
