/** Returns the REST names of the settings in a field table, which are the names of its columns. */
export const settingNames = (fields: Readonly<Record<string, { readonly column: string }>>): string[] =>
  Object.values(fields).map(({ column }) => column)
