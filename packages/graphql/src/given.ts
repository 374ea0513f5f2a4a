/** What was given, without what was not: where nothing can be taken away, an explicit null says nothing. */
export const given = <Values extends object>(values: Values): { [Key in keyof Values]?: NonNullable<Values[Key]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as never
