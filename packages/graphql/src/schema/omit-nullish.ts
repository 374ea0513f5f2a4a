/** Returns the values without those that are null or undefined, for inputs in which null has no meaning of its own. */
export const omitNullish = <Values extends object>(
  values: Values,
): { [Key in keyof Values]?: NonNullable<Values[Key]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as {
    [Key in keyof Values]?: NonNullable<Values[Key]>
  }
