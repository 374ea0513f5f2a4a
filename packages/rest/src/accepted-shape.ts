import { z } from 'zod'
import type { Shape } from './route.ts'

/** What the platform answers to a removal that it may still be at when it answers. Status 202 goes with it. */
export const acceptedShape: Shape<unknown> = {
  schema: z.object({ message: z.literal('202 Accepted') }),
  of: () => ({ message: '202 Accepted' }),
}
