import { projectKeys, runKeys } from '../../runs/pipeline-attributes.ts'
import { literals } from './sql-text.ts'

/** The attributes from which the values of filters are read. */
const projectAttributes = [...projectKeys.name, ...projectKeys.owner, ...projectKeys.url, ...projectKeys.forge]
export const statusAttributes = [...runKeys.status, ...runKeys.result, ...runKeys.state]
const facetAttributes = [...runKeys.ref, ...statusAttributes, ...projectAttributes]

const only = (keys: readonly string[], map: string) => `mapFilter((k, v) -> has(${literals(keys)}, k), ${map})`

/** The expressions for these attributes of a span of a run, and of its resource. */
export const spanFacets = only(facetAttributes, 'SpanAttributes')
export const resourceFacets = only(projectAttributes, 'ResourceAttributes')
