import { type DescribedLabel, textColorOn } from '@penstock/core'
import { z } from 'zod'
import type { Shape } from '../../routing/route.ts'
import { escapedHtml } from './escaped-html.ts'

/** A label as embedded in issues and merge requests. */
export const labelDetailsShape = {
  schema: z
    .object({
      id: z.int(),
      name: z.string(),
      description: z.string().nullable(),
      description_html: z.string(),
      text_color: z.string(),
      color: z.string(),
    })
    .meta({ id: 'LabelDetails' }),
  of: ({ id, name, description, color }: DescribedLabel) => ({
    id,
    name,
    description: description ?? null,
    description_html: escapedHtml(description ?? ''),
    text_color: textColorOn(color),
    color,
  }),
} satisfies Shape<DescribedLabel>
