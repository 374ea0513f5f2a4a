/**
 * The differences of a value from a type, as a union of texts; `never` without differences. Members that the type does not have
 * are no difference, because clients ignore them.
 */
export type TypeDifferences<Given, Type, Path extends string = ''> = Given extends null
  ? null extends Type
    ? never
    : `${Path} is null`
  : Given extends readonly unknown[]
    ? NonNullable<Type> extends readonly (infer Element)[]
      ? TypeDifferences<Given[number], Element, `${Path}[]`>
      : `${Path} is a list`
    : Given extends object
      ? NonNullable<Type> extends object
        ? OfMembers<Given, NonNullable<Type>, Path>
        : `${Path} is an object`
      : Given extends Type
        ? never
        : `${Path} is of another type`

type OfMembers<Given, Type, Path extends string> = {
  [Name in keyof Type & string as string extends Name ? never : Name]-?: Name extends keyof Given
    ? TypeDifferences<Given[Name], Type[Name], `${Path}.${Name}`>
    : undefined extends Type[Name]
      ? never
      : `${Path}.${Name} is missing`
} extends infer Found
  ? Found[keyof Found]
  : never
