/** A map of attributes. The exporter stores every value as text. */
export type TextMap = Readonly<Record<string, string>>

/** Returns attributes as a list of KeyValue in OTLP/JSON. */
export const toKeyValues = (map: TextMap): object[] =>
  Object.entries(map).map(([key, stringValue]) => ({ key, value: { stringValue } }))

/** Returns attributes as a part of a message, without the key if there are none. */
export function attributesPart(map: TextMap): { readonly attributes?: object[] } {
  const attributes = toKeyValues(map)
  return attributes.length === 0 ? {} : { attributes }
}

/** Returns the entries that have a value other than '', 0 or '0'. OTLP/JSON leaves out fields with their default. */
export function withoutDefaults(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== 0 && value !== '0'))
}

/** The words of the exporter → the numbers of OTLP. */
export const spanKinds: Readonly<Record<string, number>> = {
  Internal: 1,
  Server: 2,
  Client: 3,
  Producer: 4,
  Consumer: 5,
}
export const statusCodes: Readonly<Record<string, number>> = { Ok: 1, Error: 2 }
