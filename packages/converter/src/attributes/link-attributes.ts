import type { AttributeTable } from '../base/attribute-table.ts'
import { ATTR_SVC_LINK_TYPE } from '../base/semconv.ts'

export interface LinkContext {
  readonly type: 'upstream_pipeline' | 'previous_attempt' | 'previous_completion'
}

/** Attributes of a span link. */
export const linkAttributes: AttributeTable<LinkContext> = [
  { keys: [ATTR_SVC_LINK_TYPE], type: 'string', from: ({ type }) => type, extension: true, absent: 'never' },
]
