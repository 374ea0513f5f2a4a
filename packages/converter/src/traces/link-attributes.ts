import type { AttributeTable } from '../attribute-table.ts'
import { ATTR_SVC_LINK_TYPE } from '../semconv.ts'

export interface LinkContext {
  readonly type: 'upstream_pipeline' | 'previous_attempt' | 'previous_completion'
}

/** @see spec/pipeline-telemetry.md 2.5, 2.6 */
export const linkAttributes: AttributeTable<LinkContext> = [
  { keys: [ATTR_SVC_LINK_TYPE], type: 'string', from: ({ type }) => type, extension: true, absent: 'never' },
]
