/** The Resource and InstrumentationScope of an item in OTLP/JSON, each with its schema URL or ''. */
export interface StoredContext {
  readonly resource: object
  readonly resource_schema_url: string
  readonly scope: object
  readonly scope_schema_url: string
}

export function toStoredContext(row: { readonly resource_json: string; readonly scope_json: string }): StoredContext {
  const resourceGroup = JSON.parse(row.resource_json)
  const scopeGroup = JSON.parse(row.scope_json)
  return {
    resource: resourceGroup.resource ?? {},
    resource_schema_url: resourceGroup.schemaUrl ?? '',
    scope: scopeGroup.scope ?? {},
    scope_schema_url: scopeGroup.schemaUrl ?? '',
  }
}
