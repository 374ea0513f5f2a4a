import type { IdScalar } from './global-id.ts'
import type { RequestContext } from './request-context.ts'

/** What stands behind the objects of the schema: `sources.ts` adds what several areas show, and an area what it alone does. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface ObjectSources {}
/** The same of its interfaces. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface InterfaceSources {}

/** Names of what a list of such objects can add up; each area adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface ObjectSums {}

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
/** Makes the fields of an object, of an interface, or of `Query`. */
export type AnyFieldsOf<Parent> =
  | FieldsOf<Parent>
  | PothosSchemaTypes.InterfaceFieldBuilder<Types, Parent>
  | PothosSchemaTypes.QueryFieldBuilder<Types, Parent>
/** Makes arguments of fields, whosever they are. */
export type ArgumentsMaker = Pick<FieldsOf<unknown>, 'arg'>
export type ObjectName = keyof ObjectSources & string
