import { toValueText, type WireAttribute } from '../../api/otlp-json.ts'

/** Attributes under one heading. */
export interface AttributeGroup {
  readonly title: string
  readonly attributes: readonly Attribute[]
}

export interface Attribute {
  readonly key: string
  readonly text: string
}

const groups: readonly (readonly [title: string, pattern: RegExp])[] = [
  ['Why it failed', /^error\.|^exception\.|\.failure_reason$/],
  ['Runner', /^cicd\.worker\.|\.cicd\.(?:worker|runner)\./],
  ['Task', /(?:^|\.)cicd\.pipeline\.task\./],
  ['Pipeline', /(?:^|\.)cicd\./],
  ['Repository', /(?:^|\.)vcs\./],
]

const LEGACY = /^(?:job|pipeline)\./
const OTHER = 'Attributes'

/** The headings of attributes that repeat others under older names, and of those of the resource. */
export const LEGACY_GROUP = 'Same values under legacy names'
export const RESOURCE_GROUP = 'Resource'

/** Returns the attributes of a span by what they are about, those of the resource last. `filter` selects by name or value. */
export function attributeGroups(
  own: readonly WireAttribute[],
  resource: readonly WireAttribute[],
  filter = '',
): AttributeGroup[] {
  const hasPipeline = own.some(({ key }) => key?.startsWith('cicd.pipeline.'))
  const byTitle = new Map<string, Attribute[]>(
    [...groups.map(([title]) => title), OTHER, LEGACY_GROUP, RESOURCE_GROUP].map((title) => [title, []]),
  )
  for (const attribute of own) {
    const key = String(attribute.key ?? '')
    const title = hasPipeline && LEGACY.test(key) ? LEGACY_GROUP : groups.find(([, pattern]) => pattern.test(key))?.[0]
    byTitle.get(title ?? OTHER)!.push({ key, text: toValueText(attribute.value) })
  }
  for (const { key, value } of resource)
    byTitle.get(RESOURCE_GROUP)!.push({ key: String(key ?? ''), text: toValueText(value) })
  const wanted = filter.trim().toLowerCase()
  const isWanted = ({ key, text }: Attribute) =>
    wanted === '' || key.toLowerCase().includes(wanted) || text.toLowerCase().includes(wanted)
  return [...byTitle]
    .map(([title, attributes]) => ({ title, attributes: attributes.filter(isWanted) }))
    .filter(({ attributes }) => attributes.length > 0)
}
