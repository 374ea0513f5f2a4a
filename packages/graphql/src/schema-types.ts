import type { IdScalar } from './global-id.ts'
import type { RequestContext } from './request-context.ts'

/** What stands behind the objects of the schema; each area adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface ObjectSources {}
/** The same of its interfaces. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface InterfaceSources {}

type Scalar<Input, Output = Input> = { Input: Input; Output: Output }

/** An id that comes in is a number already; one that goes out is the whole text. */
type IdScalars = { [Name in IdScalar]: Scalar<number, string> }

type Scalars = IdScalars & {
  ID: Scalar<string, string | number>
  /** Comes in as ISO 8601; goes out as milliseconds since 1970 or as a day. */
  Time: Scalar<string, number | string>
  Date: Scalar<string>
  ISO8601Date: Scalar<string>
  Duration: Scalar<number>
  BigInt: Scalar<string, string | number>
  JSON: Scalar<unknown>
  CiInputsValue: Scalar<unknown>
}

export interface SchemaTypes {
  Context: RequestContext
  Objects: ObjectSources
  Interfaces: InterfaceSources
  Scalars: Scalars
}

export type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>
export type Builder = PothosSchemaTypes.SchemaBuilder<Types>
/** Makes the fields of an object whose source is `Parent`. */
export type FieldsOf<Parent> = PothosSchemaTypes.ObjectFieldBuilder<Types, Parent>
export type ObjectName = keyof ObjectSources & string
